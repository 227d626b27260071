// SPDX-License-Identifier: Apache-2.0
#include "lesson.hpp"

#include "columns.hpp"
#include "expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace diffbench::bench::lesson {

namespace {

struct TextFile {
  std::string_view name, text;
};

constexpr TextFile own_texts[] = {
#include "lessons.inc"
};

bool holds(const Condition& condition, const Assumption& figure) {
  const auto [low, high] = figure;
  switch (condition.relation) {
    case Relation::below: return high < condition.limit;
    case Relation::at_most: return high <= condition.limit;
    case Relation::above: return low > condition.limit;
    case Relation::at_least: return low >= condition.limit;
    case Relation::equal: return low == condition.limit && high == condition.limit;
    case Relation::otherwise: return false;
  }
  return false;
}

char choice_by(const Question& question, const Assumption& figure) {
  char otherwise = 0;
  for (const auto& [condition, letter] : question.choose) {
    if (holds(condition, figure)) {
      return letter;
    }
    otherwise = condition.relation == Relation::otherwise ? letter : otherwise;
  }
  return otherwise;
}

/// Whether what others may have done to the figure leaves the choice as it is.
bool is_decided(const Question& question, const Assumption& figure, const Assumption& widened) {
  const char choice = choice_by(question, figure);
  const auto at = [&](double end) { return choice_by(question, {end, end}); };
  return choice_by(question, widened) == choice &&
         (figure.low < figure.high || (at(widened.low) == choice && at(widened.high) == choice));
}

std::optional<Answer> answer_by(const KnownBy& known_by, const Question& question,
                                const StepResult& result) {
  if (known_by.choice != 0) {
    return Answer{.source = known_by.source, .choice = known_by.choice};
  }
  const Assumption figure = evaluate(worded(known_by.expression, result.quick), result);
  if (!std::isfinite(figure.low) || !std::isfinite(figure.high) ||
      (question.choose.empty() && !(figure.low > 0))) {
    return std::nullopt;
  }
  const StepResult without_others{result.own, result.card, result.quick};
  const bool unclear =
      (known_by.source == Source::measured && !question.clear.empty() &&
       values_at(question.clear, result).empty()) ||
      !is_decided(question, evaluate(worded(known_by.expression, result.quick), without_others),
                  figure);
  return Answer{.source = unclear ? Source::unclear : known_by.source,
                .figure = figure,
                .choice = choice_by(question, figure)};
}

} // namespace

Answer answer_of(const Question& question, const StepResult& result) {
  for (const KnownBy& known_by : question.known_by) {
    if (const auto answer = answer_by(known_by, question, result)) {
      return *answer;
    }
  }
  return {};
}

const std::string& why(const Question& question, const Answer& answer) {
  const auto own =
      std::ranges::find(question.why_of, answer.choice, &std::pair<char, std::string>::first);
  return own != question.why_of.end() ? own->second : question.why;
}

std::vector<Lesson> all_lessons() {
  std::vector<Lesson> lessons;
  for (const TextFile& file : own_texts) {
    lessons.push_back(read_lesson(file.text));
  }
  return lessons;
}

std::string table_text(const StepTable& table, const StepResult& result) {
  TextTable::Cells header;
  std::ranges::transform(table.columns, std::back_inserter(header), &StepTable::Column::name);
  TextTable text(std::move(header));
  std::string title; // none: there are no rows
  for (const std::string& path : table.rows) {
    for (const Value* row : values_at(worded(path, result.quick), result)) {
      TextTable::Cells cells;
      for (const StepTable::Column& column : table.columns) {
        cells.push_back(as_unit(row->find(column.key), column.unit));
      }
      text.add(std::move(cells));
      title = path.find("assumed.") == std::string::npos
                  ? "\n"
                  : fmt::format("\nassumed, not measured ({}):\n", result.card.id);
    }
  }
  text.drop_empty();
  return title.empty() ? "" : title + text.format(handout_width);
}

std::string worded(std::string_view words, bool quick) {
  std::string text;
  while (true) {
    const std::size_t open = words.find('{');
    text += words.substr(0, open);
    if (open == std::string_view::npos) {
      return text;
    }
    const std::size_t bar = words.find('|', open);
    const std::size_t close = words.find('}', bar);
    text += quick ? words.substr(bar + 1, close - bar - 1) : words.substr(open + 1, bar - open - 1);
    words.remove_prefix(close + 1);
  }
}

} // namespace diffbench::bench::lesson
