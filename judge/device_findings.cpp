// SPDX-License-Identifier: Apache-2.0
#include "device_findings.hpp"

#include "columns.hpp"
#include "json.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr Column<DeviceFinding> columns[] = {
    {"kind", "finding", as_text, field<&DeviceFinding::kind>},
    {"where", "where", as_text, field<&DeviceFinding::where, or_null>},
    {"other", "and", as_text, field<&DeviceFinding::other, or_null>},
    {"kernel", "kernel", as_text, field<&DeviceFinding::kernel, or_null>},
    {"block", "block", as_text, field<&DeviceFinding::block, or_null>},
    {"thread", "thread", as_text, field<&DeviceFinding::thread, or_null>},
    {"message", "what", as_text, field<&DeviceFinding::message>},
    {"affects_result", nullptr, as_text, field<&DeviceFinding::affects_result>},
};

std::string triple(const Json& finding, const char* key) {
  const auto found = finding.find(key);
  return found == finding.end() ? ""
                                : fmt::format("{}", fmt::join(found->get<std::vector<int>>(), ","));
}

std::string place(const Json& finding, const std::string& prefix) {
  const std::string file = finding.value(prefix + "file", "");
  return file.empty() ? "" : fmt::format("{}:{}", file, finding.at(prefix + "line").get<int>());
}

DeviceFinding finding_of(const Json& json) {
  return {.kind = json.at("kind").get<std::string>(),
          .message = json.at("message").get<std::string>(),
          .where = place(json, ""),
          .other = place(json, "other_"),
          .kernel = json.value("kernel", ""),
          .block = triple(json, "block"),
          .thread = triple(json, "thread"),
          .affects_result = json.at("affects_result").get<bool>(),
          .unwritten = json.value("unwritten", false)};
}

} // namespace

std::vector<DeviceFinding> device_findings(const std::string& text) {
  std::vector<DeviceFinding> findings;
  try {
    const Json json = Json::parse(text);
    std::ranges::transform(json, std::back_inserter(findings), finding_of);
  } catch (const nlohmann::json::exception&) {
    // The device writes well-formed text: somebody else has written there, too.
    findings.push_back({.kind = "misuse",
                        .message = "what the device noticed has been overwritten",
                        .affects_result = true});
  }
  return findings;
}

bool add_finding(std::vector<DeviceFinding>& findings, const DeviceFinding& finding) {
  const bool known = std::ranges::any_of(findings, [&](const DeviceFinding& earlier) {
    return earlier.kind == finding.kind &&
           ((earlier.where == finding.where && earlier.other == finding.other) ||
            (earlier.where == finding.other && earlier.other == finding.where));
  });
  if (!known) {
    findings.push_back(finding);
  }
  return !known;
}

Value device_counts(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? value_of(json) : Value();
}

std::string format_findings(const std::vector<DeviceFinding>& findings) {
  return format_rows(columns, findings);
}
Value findings_json(const std::vector<DeviceFinding>& findings) {
  return list_of(columns, findings);
}

} // namespace diffbench::bench
