// SPDX-License-Identifier: Apache-2.0
// Numbers with their unit, as people type them: "10us", "25GB/s".
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

namespace diffbench {

struct TextUnit {
  std::string_view name;
  double factor;
};
inline constexpr std::array time_units{TextUnit{"ns", 1e-9}, TextUnit{"us", 1e-6},
                                       TextUnit{"ms", 1e-3}, TextUnit{"s", 1}};

/// A finite number from 0 with one of the units behind it, in the unit of factor 1; empty when it
/// is anything else.
[[nodiscard]] inline std::optional<double> parse_quantity(std::string_view text,
                                                          std::span<const TextUnit> units) {
  double number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  const std::string_view unit(end, static_cast<std::size_t>(text_end - end));
  if (error != std::errc() || !std::isfinite(number) || number < 0) {
    return std::nullopt;
  }
  for (const TextUnit& known : units) {
    if (known.name == unit) {
      return number * known.factor;
    }
  }
  return std::nullopt;
}

} // namespace diffbench
