// SPDX-License-Identifier: Apache-2.0
// A guess as people type it: "10 times", "5 GB/s", "20us", "~3", "b)".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace diffbench::bench::lesson {

struct GuessText {
  /// As it is kept: a number above 0 in the question's unit, or the letter of a choice; empty where
  /// the line is no guess.
  std::optional<std::string> guess;
  std::string complaint; ///< why it is none
};

/// `text` as an answer to a question whose number has that `unit` ("times", "GB/s", "us"), or that
/// has so many choices (0: none). What could be meant in two ways is no guess.
[[nodiscard]] GuessText read_guess(std::string_view text, std::string_view unit,
                                   std::size_t choices);

/// q, quit and exit end a lesson.
[[nodiscard]] bool wants_to_leave(std::string_view text);

} // namespace diffbench::bench::lesson
