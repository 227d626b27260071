// SPDX-License-Identifier: Apache-2.0
// Phases 2 and 3 of translation (ISO C++ [lex.phases]), as far as directives are concerned.
#include "plain_lines.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace diffbench::bench {

namespace {

class LineReader {
 public:
  explicit LineReader(std::string source) : source_(std::move(source)) {}

  std::vector<PlainLine> read() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (skip_splice()) {
        continue;
      }
      if (c == '\n') {
        end_line();
      } else if (c == '/' && next() == '/') {
        skip_line_comment();
      } else if (c == '/' && next() == '*') {
        skip_comment();
      } else if (c == '"' && is_raw()) {
        take_raw_text();
      } else if (c == '"' || (c == '\'' && !continues_word())) {
        take_text(c);
      } else {
        take();
      }
    }
    end_line();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool is_splice(std::size_t i) const {
    return i < source_.size() && source_.compare(i, 2, "\\\n") == 0;
  }
  /// The next character but for splices.
  [[nodiscard]] char next() const {
    std::size_t i = at_ + 1;
    while (is_splice(i)) {
      i += 2;
    }
    return i < source_.size() ? source_[i] : '\0';
  }
  void take() { line_.text.push_back(source_[at_++]); }
  bool skip_splice() {
    if (!is_splice(at_)) {
      return false;
    }
    at_ += 2;
    ++number_;
    return true;
  }
  /// Goes on to what `next()` has seen.
  void skip_to_next() {
    ++at_;
    while (skip_splice()) {
    }
  }
  void end_line() {
    lines_.push_back(std::move(line_));
    ++at_;
    line_ = {.number = ++number_, .text = {}};
  }
  void skip_line_comment() {
    while (at_ < source_.size() && (skip_splice() || source_[at_] != '\n')) {
      at_ += at_ < source_.size() && source_[at_] != '\n' ? 1 : 0;
    }
  }
  void skip_comment() {
    skip_to_next();
    ++at_;
    while (at_ < source_.size() && !(source_[at_] == '*' && next() == '/')) {
      if (!skip_splice()) {
        number_ += source_[at_++] == '\n' ? 1 : 0;
      }
    }
    skip_to_next();
    ++at_;
    line_.text.push_back(' ');
  }
  [[nodiscard]] bool continues_word() const {
    return !line_.text.empty() &&
           (std::isalnum(static_cast<unsigned char>(line_.text.back())) != 0 ||
            line_.text.back() == '_');
  }
  [[nodiscard]] bool is_raw() const {
    std::string_view before = line_.text;
    const auto is_of_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    const auto begin = std::find_if_not(before.rbegin(), before.rend(), is_of_word);
    const std::string_view word = before.substr(static_cast<std::size_t>(before.rend() - begin));
    return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
  }
  void take_raw_text() {
    const std::size_t open = std::min(source_.find('(', at_), source_.size());
    const std::string end = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t close = std::min(source_.find(end, open), source_.size() - 1);
    const std::size_t stop = std::min(close + end.size(), source_.size());
    while (at_ < stop) {
      number_ += source_[at_] == '\n' ? 1 : 0;
      take();
    }
  }
  void take_text(char quote) {
    take();
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
      if (skip_splice()) {
        continue;
      }
      if (source_[at_] == '\\') {
        take();
      }
      if (at_ < source_.size() && source_[at_] != '\n') {
        take();
      }
    }
    if (at_ < source_.size() && source_[at_] == quote) {
      take();
    }
  }

  std::string source_;
  std::size_t at_ = 0;
  int number_ = 1;
  PlainLine line_;
  std::vector<PlainLine> lines_;
};

/// Without a byte order mark; lines end with \n; blanks after a line's last backslash are none.
std::string as_compilers_see_it(std::string_view source) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (source.starts_with(byte_order_mark)) {
    source.remove_prefix(byte_order_mark.size());
  }
  std::string text;
  for (const char c : source) {
    if (c == '\n') {
      const std::size_t last = text.find_last_not_of(" \t\v\f\r");
      if (last != std::string::npos && text[last] == '\\') {
        text.resize(last + 1);
      } else if (text.ends_with('\r')) {
        text.pop_back();
      }
    }
    text.push_back(c);
  }
  return text;
}

} // namespace

std::vector<PlainLine> plain_lines(std::string_view source) {
  return LineReader(as_compilers_see_it(source)).read();
}

} // namespace diffbench::bench
