#include "diffbench/errors.hpp"

namespace diffbench {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return text.size() > longest ? shown + "..." : shown;
}

} // namespace diffbench
