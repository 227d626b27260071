// SPDX-License-Identifier: Apache-2.0
#include "guesses.hpp"

#include "diffbench/atomic_file.hpp"
#include "interrupt.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace diffbench::bench::lesson {

GuessReader::GuessReader(std::ostream& prompts)
    : prompts_(prompts), terminal_(isatty(STDIN_FILENO) != 0) {}

std::optional<std::string> GuessReader::read_line() {
  constexpr std::size_t longest = 4096; // a line without end is no guess
  while (true) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos || at_end_ || received_.size() > longest) {
      if (received_.empty()) {
        return std::nullopt;
      }
      std::string line = received_.substr(0, end);
      received_.erase(0, end == std::string::npos ? end : end + 1);
      return line;
    }
    pollfd waiting{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const bool has_input = poll(&waiting, 1, 100) > 0;
    std::array<char, 512> buffer;
    const ssize_t got = has_input ? read(STDIN_FILENO, buffer.data(), buffer.size()) : -1;
    if (interrupted()) { // before an end of the input that came with it is taken for an answer
      throw Interrupted();
    }
    if (!has_input) {
      continue;
    }
    if (got > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      at_end_ = true;
    }
  }
}

std::string GuessReader::ask(const std::string& number, std::string_view unit,
                             std::size_t choices) {
  const std::string wanted = choices > 0 ? fmt::format("a {} {}", choices == 2 ? "or" : "to",
                                                       static_cast<char>('a' + choices - 1))
                                         : fmt::format("{}, above 0", unit);
  while (true) {
    if (terminal_) {
      prompts_ << fmt::format("{} your guess ({}; Enter for none, q leaves): ", number, wanted)
               << std::flush;
    }
    const std::optional<std::string> line = read_line();
    if (!line || line->find_first_not_of(" \t\r") == std::string::npos) {
      return "";
    }
    if (wants_to_leave(*line)) {
      throw Left();
    }
    const GuessText read = read_guess(*line, unit, choices);
    if (read.guess) {
      return *read.guess;
    }
    tell(prompts_, fmt::format("{}: not a guess: {}", number, read.complaint));
    if (!terminal_) {
      return "";
    }
  }
}

GuessFile::GuessFile(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file(path_);
  std::string question;
  std::string guess;
  while (file >> question >> guess) {
    if (question.find_first_not_of("0123456789.") != std::string::npos) {
      throw InvalidInput(
          fmt::format("{}: are no guesses of a lesson; choose another folder", path_.string()));
    }
    guesses_[question] = guess;
  }
}

std::string GuessFile::find(const std::string& question) const {
  const auto found = guesses_.find(question);
  return found == guesses_.end() ? "" : found->second;
}

void GuessFile::keep(const std::string& question, const std::string& guess) {
  if (guess.empty()) {
    return;
  }
  guesses_[question] = guess;
  write_atomically(path_, [&](std::ostream& out) {
    for (const auto& [each, text] : guesses_) {
      out << each << ' ' << text << '\n';
    }
  });
}

} // namespace diffbench::bench::lesson
