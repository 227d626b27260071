// SPDX-License-Identifier: Apache-2.0
#include "class_page.hpp"

#include "diffbench/terminal_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr std::string_view page_head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>diffbench class</title>
<style>
:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 72rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
.number { text-align: right; white-space: nowrap; }
details { margin: .5rem 0; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid #8886; }
</style>
</head>
<body>
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : without_controls(text, '?', "\n")) {
    switch (character) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += character;
    }
  }
  return result;
}

template <typename Number>
std::string number_cell(const std::optional<Number>& number, std::string_view unit = "") {
  return fmt::format("<td class=\"number\">{}</td>",
                     number ? fmt::format("{:.3g}{}", static_cast<double>(*number), unit) : "");
}

std::string table_row(const GradedRow& row, std::size_t number) {
  const Graded& graded = row.graded;
  const std::string verdict =
      graded.verdict.empty() ? std::string(to_string(graded.fate)) : graded.verdict;
  return fmt::format(
      "<tr><td><a href=\"#s{}\">{}</a></td><td>{}</td><td>{}</td>{}{}{}{}{}"
      "<td class=\"number\">{}</td></tr>\n",
      number, escaped(graded.name), escaped(verdict), escaped(graded.reason),
      number_cell(graded.races), number_cell(graded.leaks), number_cell(graded.copies),
      number_cell(times_of(graded, "numpy"), "x"), number_cell(times_of(graded, "best"), "x"),
      points_text(row.grade));
}

std::string details_of(const GradedRow& row, std::size_t number) {
  std::string text = fmt::format("<details id=\"s{}\"><summary>{}: {}</summary>\n", number,
                                 escaped(row.graded.name), points_text(row.grade));
  text += "<ul>\n";
  for (const MarkedCriterion& each : row.grade.criteria) {
    text += fmt::format("<li>{}: {}, {:g} of {:g}</li>\n", escaped(title_of(each.criterion)),
                        to_string(each.mark), each.points, each.criterion.points);
  }
  return text + fmt::format("</ul>\n<pre>{}</pre></details>\n", escaped(row.graded.said));
}

} // namespace

std::string points_text(const Grade& grade) {
  return grade.criteria.empty() ? "" : fmt::format("{:g} of {:g}", grade.points, grade.of);
}

std::string class_page(const std::string& folder, const std::vector<GradedRow>& rows) {
  std::string table, details;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table += table_row(rows[i], i);
    details += details_of(rows[i], i);
  }
  return fmt::format(
      "{}<h1>{}</h1>\n<div class=\"wide\"><table>\n<thead><tr><th>submission</th>"
      "<th>verdict</th><th>why</th><th class=\"number\">races</th>"
      "<th class=\"number\">leaks</th><th class=\"number\">copies a step</th>"
      "<th class=\"number\">vs numpy</th><th class=\"number\">vs best</th>"
      "<th class=\"number\">points</th></tr></thead>\n<tbody>\n{}</tbody>\n"
      "</table></div>\n<h2>What each of them does</h2>\n{}</body>\n</html>\n",
      page_head, escaped(folder), table, details);
}

} // namespace diffbench::bench
