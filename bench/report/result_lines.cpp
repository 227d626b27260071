// SPDX-License-Identifier: Apache-2.0
#include "result_lines.hpp"

#include "json.hpp"
#include "result_reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// The lists whose elements are results, or hold them. Others, as of samples or epochs, belong to
/// one result.
constexpr std::array<std::string_view, 8> result_lists{"results", "points", "rows",   "ways",
                                                       "grids",   "kinds",  "curves", "curve"};

bool holds_results(const ordered_json& part);

/// Whether the results below a part are in its member `key`.
bool leads_to_results(const std::string& key, const ordered_json& value) {
  if (value.is_array()) {
    return std::ranges::find(result_lists, key) != result_lists.end() && !value.empty() &&
           value.front().is_object();
  }
  return value.is_object() && holds_results(value);
}

bool holds_results(const ordered_json& part) {
  const auto members = part.items();
  return std::ranges::any_of(
      members, [](const auto& member) { return leads_to_results(member.key(), member.value()); });
}

/// Adds a line for each result in `part`, which begins with the line `around` it.
void add_lines(const ordered_json& part, const Value& around, Value& lines) {
  if (part.is_array()) {
    for (const ordered_json& element : part) {
      add_lines(element, around, lines);
    }
    return;
  }
  if (!part.is_object()) {
    return;
  }
  const bool is_result = !holds_results(part);
  Value line = around;
  for (const auto& [key, value] : part.items()) {
    // A line has no lists. Of what holds results, an object says nothing of a single one: a fit,
    // the final field; but for the problem.
    const bool of_all =
        key == "problem" || (value.is_primitive() && !value.is_null() && key != "schema");
    if (is_result ? !value.is_array() : of_all) {
      line[key] = value_of(value);
    }
  }
  if (is_result) {
    lines.push_back(std::move(line));
    return;
  }
  for (const auto& [key, value] : part.items()) {
    if (leads_to_results(key, value)) {
      add_lines(value, line, lines);
    }
  }
}

} // namespace

std::string experiment_of(const ordered_json& own) {
  const ordered_json& name = member(own, "experiment");
  return name.is_string() ? name.get<std::string>() : comparison_name; // of older files
}

const ordered_json& results_of(const ordered_json& own) {
  const std::string experiment = experiment_of(own);
  return member(own, experiment == comparison_name ? "results" : experiment);
}

void add_result_lines(const std::string& file, const ordered_json& own, Value& lines) {
  const std::string experiment = experiment_of(own);
  const Value around{
      {"file", file}, {"experiment", experiment}, {"command", value_of(member(own, "command"))}};
  if (experiment == comparison_name) {
    add_lines(own, around, lines);
  } else {
    add_lines(results_of(own), around, lines);
    add_lines(member(own, "assumed"), around, lines); // beside results that are a list
  }
}

} // namespace diffbench::bench
