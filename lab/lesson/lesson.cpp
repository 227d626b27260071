// SPDX-License-Identifier: Apache-2.0
#include "lesson.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/small_file.hpp"
#include "expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <set>
#include <system_error>

namespace diffbench::bench::lesson {

namespace {

namespace fs = std::filesystem;

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

std::string text_of(const fs::path& path) {
  try {
    return text_of_small_file(path);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), error.what()));
  }
}

/// By name. Throws InvalidInput without any.
std::vector<fs::path> texts_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml" && entry.is_regular_file(error)) {
      paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    throw InvalidInput(
        fmt::format("{} has no lessons: it is to be a folder of *.toml files, as "
                    "diffbench lesson --export DIR writes them",
                    folder.string()));
  }
  std::ranges::sort(paths);
  return paths;
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

std::vector<Lesson> all_lessons(const fs::path& folder) {
  std::vector<Lesson> lessons;
  for (const TextFile& file : own_texts) {
    lessons.push_back(read_lesson(std::string(file.name), file.text));
  }
  if (!folder.empty()) {
    std::set<int> numbers;
    for (const fs::path& path : texts_in(folder)) {
      Lesson lesson = read_lesson(path.string(), text_of(path));
      if (!numbers.insert(lesson.number).second) {
        throw InvalidInput(fmt::format("{}: there is another lesson {} in this folder",
                                       path.string(), lesson.number));
      }
      std::erase_if(lessons, [&](const Lesson& own) { return own.number == lesson.number; });
      lessons.push_back(std::move(lesson));
    }
    std::ranges::sort(lessons, {}, &Lesson::number);
  }
  return lessons;
}

std::vector<fs::path> export_lessons(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const TextFile& file : own_texts) {
    if (fs::exists(paths.emplace_back(folder / file.name))) {
      throw InvalidInput(
          fmt::format("{} is there already; choose another folder", paths.back().string()));
    }
  }
  std::error_code error;
  fs::create_directories(folder, error);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    write_atomically(paths[i], [&](std::ostream& out) { out << own_texts[i].text; });
  }
  return paths;
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
