// SPDX-License-Identifier: Apache-2.0
// Text from outside: numbers in it, and how it is quoted in a message.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace diffbench {

/// All of `text` as a number; empty when it is anything else.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

/// Text of a file as a message may quote it: the first 40 characters, with ? for those that are not
/// printable ASCII.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` with line ends and other control characters replaced: whatever a file or an argument
/// holds, a message stays one line and does not steer the terminal.
[[nodiscard]] std::string one_line(std::string_view text, char replacement = ' ');

} // namespace diffbench
