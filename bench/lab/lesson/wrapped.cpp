#include "wrapped.hpp"

#include <algorithm>

namespace diffbench::bench::lesson {

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t width = 80;
  std::string lines;
  std::size_t column = 0; // of the line that is being filled
  while (!text.empty()) {
    // Blanks go with the word behind them, and are dropped where a line ends before it.
    const std::size_t word = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', word), text.size());
    if (column > indent && column + end > width) {
      lines.append("\n").append(indent, ' ').append(text.substr(word, end - word));
      column = indent + end - word;
    } else {
      lines.append(text.substr(0, end));
      column += end;
    }
    text.remove_prefix(end);
  }
  return lines;
}

} // namespace diffbench::bench::lesson
