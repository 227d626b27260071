// SPDX-License-Identifier: Apache-2.0
#include "report_file.hpp"

#include "columns.hpp"
#include "diffbench/atomic_file.hpp"
#include "json.hpp"
#include "result_lines.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <span>
#include <variant>

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

/// `text` as that element; no character of it is markup.
std::string element(std::string_view name, std::string_view text) {
  std::string inner;
  for (const char character : text) {
    inner += character == '<' ? "&lt;" : character == '&' ? "&amp;" : std::string(1, character);
  }
  return fmt::format("<{0}>{1}</{0}>", name, inner);
}

/// The results with the columns of the printed table, and of what is assumed; an element, or
/// nothing.
std::string table_element(const ordered_json& own) {
  constexpr std::size_t most_rows = 100;
  Value lines = Value::list();
  add_result_lines("", own, lines);
  Value::List heads = value_of(member(own, "columns")).elements();
  for (const Value& assumed : std::initializer_list<Value>{
           {{"key", "seconds_per_step"}, {"name", "assumed, a step"}, {"unit", "s"}},
           {{"key", "times_best_cpu"}, {"name", "assumed, vs best CPU"}, {"unit", "x"}}}) {
    const std::string path = assumed.find("key").plain_text() + ".low";
    if (std::ranges::any_of(lines.elements(),
                            [&](const Value& line) { return !line.find(path).is_null(); })) {
      heads.push_back(assumed);
    }
  }
  const std::size_t count = lines.elements().size();
  if (heads.empty() || count == 0) {
    return "";
  }
  std::string rows;
  for (const Value& head : heads) {
    rows += element("th", head.find("name").plain_text());
  }
  for (const Value& line : std::span(lines.elements()).first(std::min(count, most_rows))) {
    rows += "</tr>\n<tr>";
    for (const Value& head : heads) {
      rows += element(
          "td", as_unit(line.find(head.find("key").plain_text()), head.find("unit").plain_text()));
    }
  }
  return "<table>\n<tr>" + rows + "</tr></table>\n" +
         (count > most_rows ? element("p", fmt::format("and {} more rows", count - most_rows))
                            : "");
}

/// What is read where no script runs: a mail's preview, a viewer that forbids them. The page's own
/// script puts its cards in the place of it.
std::string text_element(const std::string& name, const ordered_json& own) {
  std::string html = "<section>\n" + element("h2", experiment_of(own) + ": " + name);
  const auto add = [&](const Value& said) {
    if (const auto* const text = std::get_if<std::string>(&said.data())) {
      html += element("p", *text);
    }
  };
  add(value_of(member(own, "sentence")));
  std::ranges::for_each(value_of(member(own, "notes")).elements(), add);
  return html + table_element(own) + "</section>\n";
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
  return text_element(name, result.at("diffbench")) + data_element("result", part);
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
