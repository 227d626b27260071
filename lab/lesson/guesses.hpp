// SPDX-License-Identifier: Apache-2.0
// The guesses of a lesson: asked for on stdin, and kept in a file, so that a lesson that is taken
// up again has them.
#pragma once

#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>

namespace diffbench::bench::lesson {

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
