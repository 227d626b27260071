// SPDX-License-Identifier: Apache-2.0
#include "class_sheets.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/csv_records.hpp"
#include "diffbench/small_file.hpp"
#include "diffbench/text.hpp"
#include "json.hpp"
#include "lab_report.hpp"
#include "result_file.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_cell = 2000;

/// Those of a sheet (sheet.cpp) that the class needs.
constexpr std::array<std::string_view, 12> sheet_names{"name",     "host",   "date",    "lesson",
                                                       "question", "text",   "guess",   "answer",
                                                       "unit",     "source", "verdict", "command"};

/// A question as it was put to one student.
struct SheetLine {
  std::map<std::string_view, std::string> cells;
  int lesson = 0, question = 0;

  [[nodiscard]] const std::string& at(std::string_view name) const { return cells.at(name); }
  [[nodiscard]] std::pair<std::string, std::string> student() const {
    return {at("name"), at("host")};
  }
  [[nodiscard]] bool right() const { return at("verdict") == "right"; }
};

int positive_integer(const std::string& text, std::string_view name) {
  const std::optional<int> number = parse_number<int>(text);
  if (!number || *number < 1) {
    throw InvalidInput(fmt::format("{} '{}' is no number from 1", name, printable(text)));
  }
  return *number;
}

SheetLine sheet_line(const std::vector<std::string>& names, std::vector<std::string>& fields) {
  if (fields.size() != names.size()) {
    throw InvalidInput(
        fmt::format("a line has {} fields, and the first one {}", fields.size(), names.size()));
  }
  SheetLine line;
  for (const std::string_view name : sheet_names) {
    const auto column = std::ranges::find(names, name) - names.begin();
    std::string& cell = fields[static_cast<std::size_t>(column)];
    if (cell.size() > longest_cell) {
      throw InvalidInput(fmt::format("{} has more than {} characters", name, longest_cell));
    }
    line.cells[name] = std::move(cell);
  }
  line.lesson = positive_integer(line.at("lesson"), "lesson");
  line.question = positive_integer(line.at("question"), "question");
  return line;
}

/// Throws InvalidInput.
std::vector<SheetLine> read_sheet(const fs::path& path) {
  std::vector<std::vector<std::string>> records;
  mlp::each_csv_record(text_of_small_file(path), false, [&](mlp::CsvRecord& record) {
    records.push_back(std::move(record.fields));
  });
  if (records.empty()) {
    throw InvalidInput("is no class sheet: it is empty");
  }
  const std::vector<std::string> names = std::move(records.front());
  const auto has = [&names](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (!has("lesson") && !has("question")) {
    throw InvalidInput("is no class sheet: its first line names neither lesson nor question");
  }
  for (const std::string_view name : sheet_names) {
    if (!has(name)) {
      throw InvalidInput(
          fmt::format("is no class sheet of this version: it has no column '{}'; take the lesson "
                      "again in its folder, which measures nothing anew",
                      name));
    }
  }
  std::vector<SheetLine> lines;
  for (std::size_t i = 1; i < records.size(); ++i) {
    lines.push_back(sheet_line(names, records[i]));
    if (lines.back().student() != lines.front().student() ||
        lines.back().lesson != lines.front().lesson) {
      throw InvalidInput("has several students or lessons; a sheet is of one");
    }
  }
  if (lines.empty()) {
    throw InvalidInput("is a class sheet without any question");
  }
  return lines;
}

/// Guess over answer, of a span its nearest end: 1 within it. Nothing where there is no number.
std::optional<double> ratio_of(const SheetLine& line) {
  const std::string& answer = line.at("answer");
  const std::size_t to = answer.find(" to ");
  const auto guess = parse_number<double>(line.at("guess"));
  const auto low = parse_number<double>(answer.substr(0, to));
  const auto high = to == std::string::npos ? low : parse_number<double>(answer.substr(to + 4));
  if (line.at("unit").empty() || !guess || !low || !high || !(*guess > 0) || !(*low > 0) ||
      !(*high >= *low) || !std::isfinite(*guess) || !std::isfinite(*high)) {
    return std::nullopt;
  }
  return *guess < *low ? *guess / *low : *guess > *high ? *guess / *high : 1;
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value value_of_line(const SheetLine& line) {
  Value value = Value::object();
  for (const std::string_view name : sheet_names) {
    value[name] = text_or_null(line.at(name));
  }
  value["lesson"] = line.lesson;
  value["question"] = line.question;
  value["ratio"] = ratio_of(line);
  return value;
}

/// What a question was like for the class.
struct ClassQuestion {
  const SheetLine* first = nullptr;
  std::vector<const SheetLine*> lines = {};

  [[nodiscard]] auto graded() const {
    return std::ranges::count_if(
        lines, [](const SheetLine* line) { return !line->at("verdict").empty(); });
  }
  [[nodiscard]] auto right() const {
    return std::ranges::count_if(lines, [](const SheetLine* line) { return line->right(); });
  }
  /// Logarithms: too high and too low by a factor are equally far.
  [[nodiscard]] std::vector<double> logs() const {
    std::vector<double> logs;
    for (const SheetLine* line : lines) {
      if (const auto ratio = ratio_of(*line)) {
        logs.push_back(std::log(*ratio));
      }
    }
    std::ranges::sort(logs);
    return logs;
  }
  [[nodiscard]] std::optional<double> median_ratio() const {
    const std::vector<double> all = logs();
    return all.empty() ? std::nullopt : std::optional(std::exp(median_of(all)));
  }
  /// A quarter is below it, and a quarter above.
  [[nodiscard]] Value middle_half() const {
    const std::vector<double> all = logs();
    return all.empty() ? Value()
                       : Value{{"low", std::exp(all[all.size() / 4])},
                               {"high", std::exp(all[all.size() - 1 - all.size() / 4])}};
  }
  [[nodiscard]] std::string label() const {
    return fmt::format("{} {}", number(), first->at("text"));
  }
  [[nodiscard]] std::string number() const {
    return fmt::format("{}.{}", first->lesson, first->question);
  }
};

/// Those of equal number and words, in the order of the lesson.
std::vector<ClassQuestion> questions_of(const std::vector<SheetLine>& lines) {
  std::map<std::pair<int, std::string>, ClassQuestion> questions;
  for (const SheetLine& line : lines) {
    ClassQuestion& question = questions[{line.question, line.at("text")}];
    question.first = &line;
    question.lines.push_back(&line);
  }
  std::vector<ClassQuestion> all;
  for (auto& [key, question] : questions) {
    all.push_back(std::move(question));
  }
  return all;
}

/// Of a factor, above 1: "1.3", "24", "1,700".
std::string rounded(double factor) {
  const double place = std::pow(10, std::floor(std::log10(factor)) - 1);
  std::string text =
      fmt::format("{:.{}f}", place * std::round(factor / place), factor < 10 ? 1 : 0);
  for (std::size_t end = text.find('.') == std::string::npos ? text.size() : 0; end > 3;) {
    text.insert(end -= 3, ",");
  }
  return text;
}

std::string sentence_of(const std::vector<ClassQuestion>& questions, std::int64_t students) {
  std::ptrdiff_t graded = 0;
  std::ptrdiff_t right = 0;
  const ClassQuestion* furthest = nullptr;
  double distance = 0;
  for (const ClassQuestion& question : questions) {
    graded += question.graded();
    right += question.right();
    const double own = std::abs(std::log(question.median_ratio().value_or(1)));
    if (own > distance) {
      distance = own;
      furthest = &question;
    }
  }
  std::string text = fmt::format(
      "Of the guesses of {}, {} of {} are right{}", counted(students, "student"), right, graded,
      graded == 0 ? "" : fmt::format(" ({} %)", (100 * right + graded / 2) / graded));
  if (furthest != nullptr) {
    text += fmt::format(
        "; furthest off is question {}: half of its guesses are {} times too {} or more",
        furthest->number(), rounded(std::exp(distance)),
        *furthest->median_ratio() > 1 ? "high" : "low");
  }
  return text + ".";
}

nlohmann::ordered_json class_result(int lesson, const std::vector<SheetLine>& lines,
                                    std::int64_t students, std::vector<std::string> notes) {
  const std::vector<ClassQuestion> questions = questions_of(lines);
  LabReport report;
  report.sentence = sentence_of(questions, students);
  report.notes = std::move(notes);
  report.columns =
      Value::list({{{"key", "median_ratio"}, {"name", "guess over answer"}, {"unit", "x"}}});
  report.pictures = {{"Guesses over the answer: their median, and half of them", Figure::bars,
                      "label", "median_ratio", "", "y", "questions", "middle_half"},
                     {"Right guesses", Figure::bars, "label", "right guesses", "", "", "questions"},
                     {"Everybody's guesses", Figure::table, "name", "guess"}};
  report.data = {{"title", fmt::format("Lesson {}: {}", lesson, counted(students, "student"))},
                 {"lesson", lesson},
                 {"students", students},
                 {"questions", Value::each(questions,
                                           [](const ClassQuestion& question) {
                                             return Value{
                                                 {"question", question.first->question},
                                                 {"label", question.label()},
                                                 {"text", question.first->at("text")},
                                                 {"middle_half", question.middle_half()},
                                                 {"unit", text_or_null(question.first->at("unit"))},
                                                 {"guesses", question.graded()},
                                                 {"right", question.right()},
                                                 {"median_ratio", question.median_ratio()}};
                                           })},
                 {"results", Value::each(lines, value_of_line)}};
  return {{"context", nlohmann::ordered_json::object()},
          {"benchmarks", nlohmann::ordered_json::array()},
          {"diffbench", json_of(lab_part("lesson", "diffbench report", report))}};
}

/// The newest sheet of each student, in their order.
std::vector<std::vector<SheetLine>> newest_of(std::vector<std::vector<SheetLine>> sheets,
                                              std::vector<std::string>& notes) {
  std::ranges::sort(sheets, {}, [](const std::vector<SheetLine>& sheet) {
    const std::string& date = sheet.front().at("date");
    return std::tuple(sheet.front().student(), instant_of(date), date);
  });
  std::vector<std::vector<SheetLine>> newest;
  std::map<std::pair<std::string, std::string>, int> count;
  for (std::vector<SheetLine>& sheet : sheets) {
    if (++count[sheet.front().student()] == 1) {
      newest.push_back(std::move(sheet));
    } else {
      newest.back() = std::move(sheet);
    }
  }
  for (const auto& [student, sheets_of_it] : count) {
    if (sheets_of_it > 1) {
      notes.push_back(fmt::format("{} on {} has {} sheets: the newest counts", student.first,
                                  student.second, sheets_of_it));
    }
  }
  return newest;
}

} // namespace

bool is_class_sheet(const fs::path& path) {
  std::error_code error;
  std::ifstream file(fs::is_regular_file(path, error) ? path : "", std::ios::binary);
  std::string header(100, '\0');
  file.read(header.data(), std::ssize(header));
  std::ranges::replace_if(
      header, [](char c) { return c == ';' || c == '\t'; }, ',');
  std::erase_if(header, [](char c) { return c <= ' ' || c > '~' || c == '"'; }); // also of UTF-16
  return header.starts_with("name,host,date,lesson,") ||
         header.starts_with("lesson,question,text,");
}

bool may_be_class_sheet(const fs::path& path) {
  std::string extension = path.extension();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view of_spreadsheets[] = {".csv", ".tsv", ".xlsx", ".xls", ".ods"};
  return std::ranges::find(of_spreadsheets, extension) != std::end(of_spreadsheets) ||
         is_class_sheet(path);
}

ClassSheets read_class_sheets(const std::vector<fs::path>& paths) {
  ClassSheets all;
  std::map<int, std::vector<std::vector<SheetLine>>> by_lesson;
  for (const fs::path& path : paths) {
    try {
      std::vector<SheetLine> sheet = read_sheet(path);
      by_lesson[sheet.front().lesson].push_back(std::move(sheet));
    } catch (const InvalidInput& error) {
      all.left_out.push_back(fmt::format("{}: {}", path.string(), error.what()));
    }
  }
  for (auto& [lesson, sheets] : by_lesson) {
    std::vector<std::string> notes;
    const auto newest = newest_of(std::move(sheets), notes);
    std::vector<SheetLine> lines;
    for (const std::vector<SheetLine>& sheet : newest) {
      lines.insert(lines.end(), sheet.begin(), sheet.end());
    }
    const auto students = static_cast<std::int64_t>(newest.size());
    all.names.push_back(fmt::format("lesson {}, {}", lesson, counted(students, "student")));
    all.results.push_back(class_result(lesson, lines, students, std::move(notes)));
  }
  return all;
}

} // namespace diffbench::bench
