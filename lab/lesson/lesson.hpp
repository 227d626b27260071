// SPDX-License-Identifier: Apache-2.0
// What a lesson is: steps, each a command of this program with questions that are asked before its
// figures show. The five are texts/*.toml, which the program contains; docs/lesson.md is for those
// who teach them. How such a file is written:
//
// - text, command, rows and figures: `{1024|16}` is 1024, or 16 with --quick
// - measured, assumed, reasoned, reported: figures (expression.hpp), or the letter of a choice; the
//   first that gives an answer does
// - choose: which choice a figure means, such as {a = "< 1", b = "else"}; why.a is its explanation
// - clear: a path; where nothing is there, the samples do not show the answer
// - table: paths of rows of the result, and [header, key, unit] of columns
#pragma once

#include "answer.hpp"

#include <cstddef>
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

/// Of a step's result what its questions are about; --wide shows the command's own tables instead.
struct StepTable {
  struct Column {
    std::string name, key, unit; ///< a header, a path in the row, and the unit of what is there
  };
  std::vector<std::string> rows; ///< paths (expression.hpp)
  std::vector<Column> columns;
};
/// The table behind an empty line, at most `handout_width` wide; empty where the result has no such
/// rows.
[[nodiscard]] std::string table_text(const StepTable& table, const StepResult& result);

/// Of a lesson's lines, also where it goes into a file.
inline constexpr std::size_t handout_width = 80;

struct LessonStep {
  std::string name;                   ///< of its result file
  std::string text;                   ///< what is done, and why
  std::string command;                ///< without the file of an exercise
  std::size_t exercise = 0;           ///< of `diffbench try`: its file is put into the folder
  std::string peer = {};              ///< added as --peer where it can be started
  bool assumes = false;               ///< the command takes --assume
  std::vector<StepTable> tables = {}; ///< empty: the command's own
  std::vector<Question> questions;
  /// Mistakes that need a GPU: without one, and without a figure that is assumed, they are told.
  std::vector<std::string> gpu_pitfalls = {};
};

struct Lesson {
  int number = 0; ///< from 1
  std::string title;
  std::string teaches; ///< a sentence or two
  std::string takes;   ///< on two cores
  std::vector<LessonStep> steps;
};

[[nodiscard]] Lesson read_lesson(std::string_view text);

/// Those that the program contains, by number.
[[nodiscard]] std::vector<Lesson> all_lessons();

/// The words with one side of each `{full|quick}`.
[[nodiscard]] std::string worded(std::string_view words, bool quick);

} // namespace diffbench::bench::lesson
