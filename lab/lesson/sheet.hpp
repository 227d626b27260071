// SPDX-License-Identifier: Apache-2.0
// A question of a lesson with its guess and its answer: as lines of the lesson, and as one of the
// class sheet.
#pragma once

#include "lesson.hpp"

#include <string>
#include <vector>

namespace diffbench::bench::lesson {

/// Who takes a lesson, and where.
struct Student {
  std::string name, host;
  std::string date = {}; ///< of the sheet, ISO 8601
};

struct Asked {
  const Question* question = nullptr;
  std::string number;     ///< "2.3"
  std::string command;    ///< that answers it
  std::string card;       ///< of an assumed answer
  std::string text;       ///< as it was worded
  std::string guess = {}; ///< as read_guess() keeps it
  Answer answer = {};

  [[nodiscard]] Grade mark() const;
  /// "measured", "assumed, not measured (h200)"
  [[nodiscard]] std::string source() const;
  /// With the words of a choice; empty: none.
  [[nodiscard]] std::string full_answer() const;
};

/// The question with its choices.
[[nodiscard]] std::string question_lines(const Asked& asked);
/// The answer, what it makes of the guess, and why.
[[nodiscard]] std::string answer_lines(const Asked& asked);
/// What the page has of it, and the heads of its columns.
[[nodiscard]] Value asked_json(const Asked& asked);
[[nodiscard]] Value asked_heads();
/// A line a question, below a header. class_sheets.hpp reads it.
[[nodiscard]] std::string sheet_text(const Student& student, const std::vector<Asked>& asked);

} // namespace diffbench::bench::lesson
