// SPDX-License-Identifier: Apache-2.0
// What a lesson is: steps, each a command of this program with questions that are asked before its
// figures show. The five are tables, a file each; docs/lesson.md is for those who teach them.
//
// To add a question: a line in its step, and the same words in docs/lesson.md (a test compares).
#pragma once

#include "answer.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench::lesson {

/// In its words, and those of a LessonStep, `{1024|16}` is 1024, or 16 with --quick.
struct Question {
  std::string_view text;
  std::string_view unit; ///< of the number that is asked for: "times"; empty: one of the choices
  std::vector<std::string_view> choices = {}; ///< a, b, c, ...
  Answer (*answer)(const StepResult& result) = nullptr;
  std::string_view why;                ///< whatever came out
  double tolerance = number_tolerance; ///< a guess is right up to this factor
};

struct LessonStep {
  std::string_view name;      ///< of its result file
  std::string_view text;      ///< what is done, and why
  std::string_view command;   ///< without the file of an exercise
  std::size_t exercise = 0;   ///< of `diffbench try`: its file is put into the folder
  std::string_view peer = {}; ///< added as --peer where it can be started
  bool assumes = false;       ///< the command takes --assume
  std::vector<Question> questions;
  /// Mistakes that need a GPU: without one they are told.
  std::vector<std::string_view> gpu_pitfalls = {};
};

struct Lesson {
  int number = 0;
  std::string_view title;
  std::string_view teaches; ///< a sentence or two
  std::string_view takes;   ///< on two cores
  std::vector<LessonStep> steps;
};

// The tables.
[[nodiscard]] Lesson diffusion_lesson();
[[nodiscard]] Lesson width_lesson();
[[nodiscard]] Lesson depth_lesson();
[[nodiscard]] Lesson thread_lesson();
[[nodiscard]] Lesson latency_lesson();

/// All of them, by number.
[[nodiscard]] std::vector<Lesson> all_lessons();

/// The words with one side of each `{full|quick}`.
[[nodiscard]] std::string worded(std::string_view words, bool quick);

} // namespace diffbench::bench::lesson
