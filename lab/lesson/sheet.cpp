// SPDX-License-Identifier: Apache-2.0
#include "sheet.hpp"

#include "columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

namespace diffbench::bench::lesson {

namespace {

constexpr std::size_t margin = 5; // "2.3  "

constexpr Column<Asked> sheet_columns[] = {
    {"lesson", nullptr, as_text,
     [](const Asked& a) { return Value(a.number.substr(0, a.number.find('.'))); }},
    {"question", nullptr, as_text, // alone: of 1.10 a spreadsheet makes 1.1
     [](const Asked& a) { return Value(a.number.substr(a.number.find('.') + 1)); }},
    {"text", nullptr, as_text, field<&Asked::text>},
    {"guess", nullptr, as_text, field<&Asked::guess, or_null>},
    {"answer", nullptr, as_text, field<&Asked::full_answer, or_null>},
    {"unit", nullptr, as_text, [](const Asked& a) { return or_null(a.question->unit); }},
    {"source", nullptr, as_text, field<&Asked::source>},
    {"verdict", nullptr, as_text, field<&Asked::mark, &Grade::text, or_null>},
    {"command", nullptr, as_text, field<&Asked::command>},
};

/// "7.75 times (measured)"
std::string outcome(const Asked& asked) {
  switch (asked.answer.source) {
    case Source::absent: return "no figure: this cannot be measured here";
    case Source::disturbed: return "no answer: other programs were running";
    default:
      return fmt::format("{}{}{} ({})", asked.full_answer(),
                         asked.question->unit.empty() ? "" : " ", asked.question->unit,
                         asked.source());
  }
}

constexpr Column<Asked> page_columns[] = {
    {"number", "question", as_text, field<&Asked::number>},
    {"text", "is", as_text, field<&Asked::text>},
    {"guess", "guess", as_text, field<&Asked::guess, or_null>},
    {"verdict", "which is", as_text, field<&Asked::mark, &Grade::text, or_null>},
    {"answer", "answer", as_text, [](const Asked& a) { return or_null(outcome(a)); }},
    {"why", "why", as_text, [](const Asked& a) { return or_null(why(*a.question, a.answer)); }},
    {"choices", nullptr, as_text, [](const Asked& a) { return Value(a.question->choices); }},
    {"command", nullptr, as_text, field<&Asked::command>},
};

} // namespace

Value asked_json(const Asked& asked) { return object_of(page_columns, asked); }
Value asked_heads() { return heads_of(page_columns); }

Grade Asked::mark() const { return grade(guess, answer, question->tolerance); }

std::string Asked::source() const {
  const std::string_view name = to_string(answer.source);
  return answer.source == Source::assumed ? fmt::format("{} ({})", name, card) : std::string(name);
}

std::string Asked::full_answer() const {
  const std::string short_answer = answer_text(answer);
  return answer.choice == 0
             ? short_answer
             : fmt::format("{}) {}", short_answer,
                           question->choices[static_cast<std::size_t>(answer.choice - 'a')]);
}

std::string question_lines(const Asked& asked) {
  std::vector<std::string> choices;
  for (const std::string& choice : asked.question->choices) {
    choices.push_back(fmt::format("{})  {}", static_cast<char>('a' + choices.size()), choice));
  }
  const std::string question = fmt::format("{}  {}\n", asked.number, asked.text);
  const std::string indent(margin, ' ');
  const std::string line = fmt::format("{}{}\n", indent, fmt::join(choices, "   "));
  return choices.empty() ? question
         : line.size() <= handout_width
             ? question + line
             : question + fmt::format("{}{}\n", indent, fmt::join(choices, "\n" + indent));
}

std::string answer_lines(const Asked& asked) {
  std::string line = fmt::format("{}  {}", asked.number, outcome(asked));
  if (const Grade mark = asked.mark(); !mark.text.empty()) {
    line += fmt::format("; your guess {}: {}", asked.guess, mark.text);
  }
  const std::string& explanation = why(*asked.question, asked.answer);
  return explanation.empty() ? line + "\n"
                             : fmt::format("{}\n{:{}}{}\n", line, "", margin, explanation);
}

std::string sheet_text(const Student& student, const std::vector<Asked>& asked) {
  return csv_of(Value::each(asked, [&](const Asked& each) {
    return object_of(sheet_columns, each,
                     {{"name", student.name}, {"host", student.host}, {"date", student.date}});
  }));
}

} // namespace diffbench::bench::lesson
