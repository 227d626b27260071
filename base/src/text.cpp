#include "diffbench/text.hpp"

#include <algorithm>

namespace diffbench {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return text.size() > longest ? shown + "..." : shown;
}

std::string one_line(std::string_view text, char replacement) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, replacement);
  return line;
}

} // namespace diffbench
