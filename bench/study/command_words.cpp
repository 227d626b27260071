// SPDX-License-Identifier: Apache-2.0
#include "command_words.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

class Splitter {
 public:
  Splitter(std::string_view command, bool refuses_shell)
      : command_(command), refuses_shell_(refuses_shell) {}

  std::vector<std::string> words() {
    while (at_ < command_.size()) {
      const char c = next();
      if (c == ' ' || c == '\t' || c == '\n') {
        finish();
      } else if (c == '\'') {
        quoted('\'');
      } else if (c == '"') {
        quoted('"');
      } else if (c == '\\') {
        add(at_ < command_.size() ? next() : unfinished("a \\"));
      } else if (for_shell(c)) {
        refuse(c);
      } else {
        add(c);
      }
    }
    finish();
    return words_;
  }

 private:
  char next() { return command_[at_++]; }
  void add(char c) { word_ = word_.value_or("") + c; }
  void finish() {
    if (word_) {
      words_.push_back(*std::exchange(word_, std::nullopt));
    }
  }

  void quoted(char quote) {
    word_ = word_.value_or(""); // '' is a word, too
    while (true) {
      char c = at_ < command_.size() ? next() : unfinished("a quotation");
      if (c == quote) {
        return;
      }
      if (refuses_shell_ && quote == '"' && (c == '$' || c == '`')) {
        refuse(c);
      }
      if (quote == '"' && c == '\\' && at_ < command_.size() &&
          std::string_view("$`\"\\").find(command_[at_]) != std::string_view::npos) {
        c = next();
      }
      add(c);
    }
  }

  /// What would mean something else to a shell than itself.
  [[nodiscard]] bool for_shell(char c) const {
    constexpr std::string_view anywhere = "|&;<>()$`*?[";
    const bool assigns = c == '=' && words_.empty();
    const bool begins = !word_ && (c == '#' || c == '~');
    return refuses_shell_ && (anywhere.find(c) != std::string_view::npos || assigns || begins);
  }
  [[noreturn]] void refuse(char c) const {
    throw InvalidInput(fmt::format("'{}' in '{}' is for a shell: give --shell sh, or quote it", c,
                                   printable(command_)));
  }
  [[noreturn]] char unfinished(const char* what) const {
    throw InvalidInput(fmt::format("{} in '{}' does not end", what, printable(command_)));
  }

  std::string_view command_;
  bool refuses_shell_;
  std::size_t at_ = 0;
  std::optional<std::string> word_ = {};
  std::vector<std::string> words_ = {};
};

} // namespace

std::vector<std::string> command_words(std::string_view command) {
  std::vector<std::string> words = Splitter(command, true).words();
  if (words.empty()) {
    throw InvalidInput("a command without a word");
  }
  return words;
}

std::vector<std::string> argument_words(std::string_view arguments) {
  return Splitter(arguments, false).words();
}

} // namespace diffbench::bench
