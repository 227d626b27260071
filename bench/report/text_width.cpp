// SPDX-License-Identifier: Apache-2.0
#include "text_width.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

namespace diffbench::bench {

namespace {

/// Where what follows of a line begins.
std::size_t hanging_indent(std::string_view line, std::size_t width) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t word_end = std::min(line.find(' ', begin), line.size());
  const std::string_view word = line.substr(begin, word_end - begin);
  std::size_t indent = begin + (word.ends_with(':') || word == "-" ? 2 : 0);
  for (std::size_t gap = line.find("  ", begin); gap < 2 * width / 3;) {
    const std::size_t column = line.find_first_not_of(' ', gap);
    if (column >= 2 * width / 3) {
      break;
    }
    indent = column;
    gap = line.find("  ", column);
  }
  return indent < width ? indent : 0;
}

/// The last space that `width` leaves, or that behind a word which is too long.
std::size_t place_to_break(std::string_view line, std::size_t begin, std::size_t width) {
  std::size_t at = line.rfind(' ', width);
  if (at == std::string_view::npos || at < begin) {
    at = line.find(' ', begin); // a word that is too long
  }
  return std::min(at, line.size());
}

/// It is broken for a terminal alone, and so that it can be copied: all lines but the last end with
/// a backslash.
void add_command(std::string& text, std::string_view line) {
  const std::size_t indent = line.find('$') + 4;
  std::string left(line);
  while (left.size() > text_width) {
    const std::size_t at = place_to_break(left, indent + 1, text_width - 2);
    if (at == left.size()) {
      break;
    }
    text += left.substr(0, at) + " \\\n";
    left = std::string(indent, ' ') + left.substr(at + 1);
  }
  text += left;
}

void add_wrapped(std::string& text, std::string_view line, std::size_t width) {
  if (const std::size_t command = line.find("$ ");
      command != std::string_view::npos && command == line.find_first_not_of(' ')) {
    add_command(text, line);
    return;
  }
  if (line.size() <= width) {
    text += line;
    return;
  }
  const std::size_t indent = hanging_indent(line, width);
  std::string left(line);
  // What is before the hanging column stays on the first line.
  std::size_t begin = std::min(indent, left.size());
  while (left.size() > width) {
    const std::size_t at = place_to_break(left, begin + 1, width);
    text.append(left, 0, left.find_last_not_of(' ', at) + 1);
    const std::size_t next = left.find_first_not_of(' ', at);
    if (next == std::string::npos) {
      return;
    }
    text += '\n';
    left = std::string(indent, ' ') + left.substr(next);
    begin = indent;
  }
  text += left;
}

} // namespace

std::optional<TerminalSize> terminal_size(int file) {
  const char* terminal = std::getenv("TERM");
  if (::isatty(file) != 1 || terminal == nullptr || std::string_view(terminal) == "dumb") {
    return std::nullopt;
  }
  winsize size{};
  const bool known = ::ioctl(file, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 && size.ws_row > 0 ? TerminalSize{size.ws_col, size.ws_row}
                                                     : TerminalSize{};
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    add_wrapped(result, text.substr(0, end), width);
    if (end == std::string_view::npos) {
      break;
    }
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

} // namespace diffbench::bench
