// SPDX-License-Identifier: Apache-2.0
// What a lesson is: steps, each a command of this program with questions that are asked before its
// figures show. The five are texts/*.toml, which the program contains; docs/lesson.md is for those
// who teach them, and says how to write such a file.
#pragma once

#include "answer.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench::lesson {

enum class Relation { below, at_most, above, at_least, equal, otherwise };

/// What may hold of a figure, wherever it lies between its ends: "< 1", "<= 1", "> 1", ">= 1", "=
/// 1", or "else", where no other does.
struct Condition {
  Relation relation = Relation::otherwise;
  double limit = 0;
};

/// A way to an answer: a letter, or an expression (expression.hpp).
struct KnownBy {
  Source source = Source::absent;
  std::string expression = {}; ///< empty: the choice is known
  char choice = 0;
};

/// In its words, and those of a LessonStep, `{1024|16}` is 1024, or 16 with --quick.
struct Question {
  std::string text;
  std::string unit; ///< of the number that is asked for: "times"; empty: one of the choices
  std::vector<std::string> choices = {}; ///< a, b, c, ...
  std::vector<KnownBy> known_by;         ///< the first that gives an answer does
  std::string clear = {}; ///< what is measured is unclear where this path has nothing
  std::vector<std::pair<Condition, char>> choose = {};   ///< a choice by its figure
  std::string why = {};                                  ///< whatever came out, but for
  std::vector<std::pair<char, std::string>> why_of = {}; ///< these choices
  double tolerance = number_tolerance;                   ///< a guess is right up to this factor
};

[[nodiscard]] Answer answer_of(const Question& question, const StepResult& result);
/// The explanation of that answer.
[[nodiscard]] const std::string& why(const Question& question, const Answer& answer);

struct LessonStep {
  std::string name;         ///< of its result file
  std::string text;         ///< what is done, and why
  std::string command;      ///< without the file of an exercise
  std::size_t exercise = 0; ///< of `diffbench try`: its file is put into the folder
  std::string peer = {};    ///< added as --peer where it can be started
  bool assumes = false;     ///< the command takes --assume
  std::vector<Question> questions;
  /// Mistakes that need a GPU: without one, and without a figure that is assumed, they are told.
  std::vector<std::string> gpu_pitfalls = {};
};

inline constexpr int most_lessons = 99;

struct Lesson {
  int number = 0; ///< from 1
  std::string title;
  std::string teaches; ///< a sentence or two
  std::string takes;   ///< on two cores
  std::vector<LessonStep> steps;
};

/// Throws InvalidInput, "file:line: what is wrong", for text that is no lesson. `file` is named
/// only.
[[nodiscard]] Lesson read_lesson(const std::string& file, std::string_view text);

/// Those that the program contains, by number; of `folder`, unless it is empty, the *.toml come in
/// addition and in the place of those with their number. Throws as read_lesson() does, and
/// InvalidInput for a folder without any, or with two of a number.
[[nodiscard]] std::vector<Lesson> all_lessons(const std::filesystem::path& folder = {});

/// Writes the program's own as files into the folder, made where it is not there. Throws
/// InvalidInput where there is such a file already, and Error. Returns the paths.
std::vector<std::filesystem::path> export_lessons(const std::filesystem::path& folder);

/// The words with one side of each `{full|quick}`.
[[nodiscard]] std::string worded(std::string_view words, bool quick);

} // namespace diffbench::bench::lesson
