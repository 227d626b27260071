// SPDX-License-Identifier: Apache-2.0
#include "report_file.hpp"

#include "diffbench/atomic_file.hpp"

#include <nlohmann/json.hpp>

#include <ostream>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

/// In JSON `<` stands in strings only, where it may be written like this; so nothing in the data
/// can be taken for the end of its element, or for a comment (HTML Standard, 4.12.1.3).
std::string without_markup(const std::string& json) {
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char character : json) {
    if (character == '<') {
      text += "\\u003c";
    } else {
      text += character;
    }
  }
  return text;
}

} // namespace

std::string data_element(const std::string& name, const ordered_json& data) {
  return "<script type=\"application/json\" class=\"" + name + "\">" +
         without_markup(data.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) +
         "</script>\n";
}

std::string report_part(const std::string& name, const ordered_json& result) {
  const ordered_json part{
      {"file", name}, {"context", result.at("context")}, {"diffbench", result.at("diffbench")}};
  return data_element("result", part);
}

void write_report(const std::filesystem::path& path, std::span<const std::string> parts) {
  const Page page = report_page();
  write_atomically(path, [&](std::ostream& file) {
    file << page.head;
    for (const std::string& part : parts) {
      file << part;
    }
    file << page.tail;
  });
}

} // namespace diffbench::bench
