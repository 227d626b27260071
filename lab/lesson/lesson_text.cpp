// SPDX-License-Identifier: Apache-2.0
// A lesson as it is written in texts/*.toml. These are the program's own: what must hold of them is
// a test (tests/cli/lesson_test.py, and the unit tests of lessons).
#include "diffbench/name_table.hpp"
#include "diffbench/text.hpp"
#include "lesson.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <iterator>

namespace diffbench::bench::lesson {

namespace {

using Node = toml::node_view<const toml::node>;

constexpr NameTable<Relation, 6> relation_names{"condition",
                                                {{{Relation::below, "<"},
                                                  {Relation::at_most, "<="},
                                                  {Relation::above, ">"},
                                                  {Relation::at_least, ">="},
                                                  {Relation::equal, "="},
                                                  {Relation::otherwise, "else"}}}};

/// Lines and spaces of a text are as its author found them easy to write.
std::string text_of(Node node) {
  std::string words;
  bool between = false;
  for (const char c : node.value_or(std::string_view())) {
    const bool space = c == ' ' || c == '\n';
    if (!space) {
      words += between && !words.empty() ? " " : "";
      words += c;
    }
    between = space;
  }
  return words;
}

/// What `read` makes of each element of a list, or of what is none; nothing of what is not there.
template <typename Read>
auto each_of(Node node, Read read) {
  std::vector<decltype(read(node))> all;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) {
      all.push_back(read(Node(element)));
    }
  } else if (node) {
    all.push_back(read(node));
  }
  return all;
}

/// Of the members of a table that are texts, "a" and "else" for one: the choice, 0 of "else".
std::vector<std::pair<char, std::string>> by_choice(Node node) {
  std::vector<std::pair<char, std::string>> all;
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      all.emplace_back(key.str() == "else" ? 0 : key.str().front(), text_of(Node(value)));
    }
  }
  return all;
}

std::pair<Condition, char> written_choice(const std::pair<char, std::string>& written) {
  const auto& [choice, condition] = written; // "< 1", "else"
  const std::size_t space = std::min(condition.find(' '), condition.size());
  const auto limit = parse_number<double>(condition.substr(std::min(space + 1, condition.size())));
  return {
      {.relation = relation_names.parse(condition.substr(0, space)), .limit = limit.value_or(0)},
      choice};
}

Question question_of(Node table) {
  Question question{.text = text_of(table["text"]),
                    .unit = text_of(table["unit"]),
                    .choices = each_of(table["choices"], text_of),
                    .known_by = {},
                    .clear = text_of(table["clear"]),
                    .why = text_of(table["why"]),
                    .tolerance = table["tolerance"].value_or(number_tolerance)};
  std::ranges::transform(by_choice(table["choose"]), std::back_inserter(question.choose),
                         written_choice);
  for (const auto& [choice, why] : by_choice(table["why"])) {
    if (choice == 0) {
      question.why = why;
    } else {
      question.why_of.emplace_back(choice, why);
    }
  }
  for (const auto& [key, source] : {std::pair{"measured", Source::measured},
                                    {"assumed", Source::assumed},
                                    {"reasoned", Source::reasoned},
                                    {"reported", Source::reported}}) {
    const bool by_letter =
        !question.choices.empty() && source != Source::measured && source != Source::assumed;
    for (const std::string& text : each_of(table[key], text_of)) {
      question.known_by.push_back({.source = source,
                                   .expression = by_letter ? "" : text,
                                   .choice = by_letter ? text.front() : '\0'});
    }
  }
  return question;
}

StepTable table_of(Node table) {
  return {.rows = each_of(table["rows"], text_of),
          .columns = each_of(table["columns"], [](Node column) {
            return StepTable::Column{
                .name = text_of(column[0]), .key = text_of(column[1]), .unit = text_of(column[2])};
          })};
}

LessonStep step_of(Node table) {
  return {.name = text_of(table["name"]),
          .text = text_of(table["text"]),
          .command = text_of(table["command"]),
          .exercise = table["exercise"].value_or(std::size_t{0}),
          .peer = text_of(table["peer"]),
          .assumes = table["assumes"].value_or(false),
          .tables = each_of(table["table"], table_of),
          .questions = each_of(table["question"], question_of),
          .gpu_pitfalls = each_of(table["gpu_pitfalls"], text_of)};
}

} // namespace

Lesson read_lesson(std::string_view text) {
  const toml::table file = toml::parse(text);
  const Node table(&file);
  return {.number = table["number"].value_or(0),
          .title = text_of(table["title"]),
          .teaches = text_of(table["teaches"]),
          .takes = text_of(table["takes"]),
          .steps = each_of(table["step"], step_of)};
}

} // namespace diffbench::bench::lesson
