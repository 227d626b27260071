// SPDX-License-Identifier: Apache-2.0
// A lesson as it is taken: each step asks for guesses, runs its command, and answers.
#pragma once

#include "assumed_card.hpp"
#include "lesson.hpp"
#include "verb.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace diffbench::bench::lesson {

struct CourseOptions {
  std::string folder, sheet; ///< empty: diffbench-lesson-N, and a sheet.csv in it
  std::string name;          ///< of the student, for the sheet
  AssumedCard card;
  std::string card_as_typed; ///< the --assume of commands
  bool quiz = true;
  bool quick = false;
  bool again = false; ///< finished steps are measured anew
};

/// Runs this program with the arguments, `shows` what it writes to stdout or not, and returns its
/// exit code.
using RunCommand = std::function<int(const std::vector<std::string>& arguments, bool shows)>;

/// Writes prose in lines of 80 characters, or less on a narrower terminal.
void say(std::ostream& out, const std::string& text);

/// The words, commands and questions, without running anything.
[[nodiscard]] std::string lesson_plan(const Lesson& lesson, const CourseOptions& options);

/// Takes up what the folder has (folder.hpp). Returns the exit code, and complains on stderr where
/// it is not 0: that of a command that failed, exit_interrupted after Ctrl-C. Throws as Folder
/// does, and Error for what cannot be written; what is finished stays.
[[nodiscard]] int take_lesson(const Lesson& lesson, const CourseOptions& options,
                              const Invocation& invocation, const RunCommand& run_command);

} // namespace diffbench::bench::lesson
