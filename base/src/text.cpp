// SPDX-License-Identifier: Apache-2.0
#include "diffbench/text.hpp"

#include "diffbench/terminal_text.hpp"

#include <algorithm>
#include <cstddef>

namespace diffbench {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return text.size() > longest ? shown + "..." : shown;
}

namespace {

/// Bytes of the UTF-8 character that `text` begins with; 0 where it begins with none.
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  const bool whole = length <= text.size() &&
                     std::ranges::all_of(text.substr(1, length > 0 ? length - 1 : 0), [](char c) {
                       return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
                     });
  return whole ? length : 0;
}

/// Of one UTF-8 character.
bool steers(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 1: return byte(0) < 0x20 || byte(0) == 0x7f;
    case 2:
      return (byte(0) == 0xc2 && byte(1) < 0xa0) || (byte(0) == 0xd8 && byte(1) == 0x9c); // U+061C
    case 3:
      return byte(0) == 0xe2 &&
             ((byte(1) == 0x80 && ((byte(2) >= 0xa8 && byte(2) <= 0xae) || // U+2028 to U+202E
                                   byte(2) == 0x8e || byte(2) == 0x8f)) || // U+200E, U+200F
              (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));    // U+2066 to U+2069
    default: return false;
  }
}

} // namespace

std::string without_controls(std::string_view text, char replacement, std::string_view kept) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    const bool stays = length == 1 && kept.find(character) != std::string_view::npos;
    if (!stays && (length == 0 || steers(character))) {
      clean += replacement;
    } else {
      clean += character;
    }
    text.remove_prefix(character.size());
  }
  return clean;
}

std::string one_line(std::string_view text, char replacement) {
  return without_controls(text, replacement);
}

} // namespace diffbench
