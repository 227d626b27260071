// SPDX-License-Identifier: Apache-2.0
// The guesses of a lesson: asked for on stdin, and kept in a file, so that a lesson that is taken
// up again has them.
#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace diffbench::bench::lesson {

// A guess as people type it: "10 times", "5 GB/s", "20us", "~3", "b)".

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

/// Somebody wants no more of a lesson.
class Left : public std::exception {};

/// Lines of stdin. A person at a terminal is asked again after a line that is no guess; a script is
/// not, since its next line belongs to the next question.
class GuessReader {
 public:
  /// `prompts` is where a terminal is prompted.
  explicit GuessReader(std::ostream& prompts);

  /// The next guess, as read_guess() keeps it, of a question with so many choices; empty: none.
  /// The end of stdin is no guess. Waits for a line; throws Interrupted when a signal comes
  /// first, and Left for a q.
  [[nodiscard]] std::string ask(const std::string& number, std::string_view unit,
                                std::size_t choices);
  [[nodiscard]] bool terminal() const { return terminal_; }

 private:
  /// Nothing at the end of stdin.
  std::optional<std::string> read_line();

  std::ostream& prompts_;
  bool terminal_;
  std::string received_; ///< read, but not yet handed out
  bool at_end_ = false;
};

/// A line "2.3 47" for each question that was guessed at.
class GuessFile {
 public:
  /// Reads the file, where there is one.
  explicit GuessFile(std::filesystem::path path);

  /// Empty: none.
  [[nodiscard]] std::string find(const std::string& question) const;
  /// Writes the file anew, all of it or nothing; of an empty guess nothing is kept. Throws Error.
  void keep(const std::string& question, const std::string& guess);

 private:
  std::filesystem::path path_;
  std::map<std::string, std::string> guesses_;
};

} // namespace diffbench::bench::lesson
