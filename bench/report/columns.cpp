// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include "build_info.hpp"
#include "context.hpp"
#include "diffbench/terminal_text.hpp"
#include "output.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <variant>

namespace diffbench::bench {

namespace {

template <typename Format>
std::string shown(const Value& value, Format format) {
  return value.is_null() ? no_value : format(value.number());
}

/// As a spreadsheet takes text. What begins with a minus is mostly an option, and harmless without
/// a call in it.
bool like_a_formula(std::string_view text) {
  return !text.empty() &&
         (std::string_view("=+@\t").find(text.front()) != std::string_view::npos ||
          (text.front() == '-' && text.find_first_of("|!(") != std::string_view::npos));
}

/// Quoted where it holds a separator, a quote or a line end; with ? for other control characters:
/// the lines may go to a terminal. A ' keeps a spreadsheet from taking text for a formula.
std::string csv_cell(const Value& value) {
  std::string text = without_controls(value.plain_text(), '?', "\t\r\n");
  if (std::holds_alternative<std::string>(value.data()) && like_a_formula(text)) {
    text.insert(text.begin(), '\'');
  }
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string result = "\"";
  for (const char character : text) {
    result += character == '"' ? "\"\"" : std::string(1, character);
  }
  return result + "\"";
}

using Cells = std::vector<std::pair<std::string, std::string>>; // of a line: column, text

/// Empty where the line has no such column.
std::string cell(const Cells& cells, const std::string& column) {
  const auto found = std::ranges::find(cells, column, &Cells::value_type::first);
  return found == cells.end() ? "" : found->second;
}

void flatten(const Value& value, const std::string& name, Cells& cells) {
  if (const auto* object = std::get_if<Value::Object>(&value.data())) {
    for (const Member& member : *object) {
      flatten(member.value, name.empty() ? member.key : name + "." + member.key, cells);
    }
  } else if (!std::holds_alternative<Value::List>(value.data())) {
    cells.emplace_back(name, value.is_null() ? "" : csv_cell(value));
  }
}

} // namespace

std::string as_text(const Value& value) { return value.is_null() ? no_value : value.plain_text(); }
std::string as_yes_no(const Value& value) {
  return value.is_null() ? no_value : std::get<bool>(value.data()) ? "yes" : "no";
}
std::string as_seconds(const Value& value) { return shown(value, format_seconds); }
std::string as_figure(const Value& value) { return shown(value, format_figure); }
std::string as_ratio(const Value& value) {
  return shown(value, [](double ratio) { return format_figure(ratio) + "x"; });
}
std::string as_percent(const Value& value) { return shown(value, format_percent); }
std::string as_spread(const Value& value) {
  return shown(value, [](double spread) { return fmt::format("+-{:.1f} %", 100 * spread); });
}
std::string as_bytes(const Value& value) {
  return shown(value, [](double bytes) { return format_bytes(bytes); });
}

std::string as_thousandths(const Value& value) {
  return shown(value, [](double ratio) { return fmt::format("{:.3f}", ratio); });
}
std::string as_rate(const Value& value) {
  return shown(value, [](double rate) { return format_figure(1e-9 * rate) + " GB/s"; });
}

std::string as_unit(const Value& value, std::string_view unit) {
  if (const Value& low = value.find("low"); !low.is_null()) {
    return join_ends(as_unit(low, unit), as_unit(value.find("high"), unit));
  }
  const auto show = unit == "s"                                    ? as_seconds
                    : unit == "x"                                  ? as_ratio
                    : unit == "%"                                  ? as_percent
                    : unit == "B"                                  ? as_bytes
                    : unit == "B/s"                                ? as_rate
                    : std::holds_alternative<double>(value.data()) ? as_figure
                    : std::holds_alternative<bool>(value.data())   ? as_yes_no
                                                                   : as_text;
  return show(value);
}

std::string join_ends(const std::string& low, const std::string& high) {
  if (low == high) {
    return low;
  }
  const std::size_t unit = low.find(' ');
  const bool same_unit = unit != std::string::npos && high.ends_with(low.substr(unit));
  return fmt::format("{} to {}", same_unit ? low.substr(0, unit) : low, high);
}

std::string_view unit_name(std::string (*unit)(const Value&)) {
  return unit == as_seconds                           ? "s"
         : unit == as_ratio || unit == as_thousandths ? "x"
         : unit == as_percent || unit == as_spread    ? "%"
         : unit == as_bytes                           ? "B"
         : unit == as_rate                            ? "B/s"
                                                      : "";
}

std::string csv_of(const Value& objects) {
  std::vector<std::string> names; // of all lines: an object may lack what another one has
  std::vector<Cells> lines;
  for (const Value& object : objects.elements()) {
    flatten(object, "", lines.emplace_back());
    for (const auto& [name, text] : lines.back()) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  // What is null here and an object there is its members; of two kinds of lines, a figure may be
  // the namesake of an object.
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::any_of(
               names, [&](const std::string& other) { return other.starts_with(name + "."); }) &&
           std::ranges::all_of(lines,
                               [&](const Cells& cells) { return cell(cells, name).empty(); });
  });
  std::string text;
  for (const std::string& name : names) {
    text += csv_cell(name) + ",";
  }
  text += kind_of_output::csv.mark;
  for (const Cells& cells : lines) {
    for (const std::string& name : names) {
      text += cell(cells, name) + ",";
    }
    text += fmt::format("{}\n", build_info::version);
  }
  return text;
}

} // namespace diffbench::bench
