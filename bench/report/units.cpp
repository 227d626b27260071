// SPDX-License-Identifier: Apache-2.0
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

std::string format_figure(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (value == 0) {
    return "0";
  }
  if (std::abs(value) >= 1e12 || std::abs(value) < 1e-9) { // 1e308 has 309 digits
    return fmt::format("{:.2e}", value);
  }
  // Rounding first: 9.996 has two digits before the point when it is shown with three.
  const double exponent = std::floor(std::log10(std::abs(value)));
  const double unit = std::pow(10.0, exponent - 2);
  const double rounded = std::round(value / unit) * unit;
  const int digits_before = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9)) + 1;
  return fmt::format("{:.{}f}", rounded, std::clamp(3 - digits_before, 0, 9));
}

std::string format_percent(double fraction) { return format_figure(100 * fraction) + " %"; }

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) {
    return "-";
  }
  struct Unit {
    double seconds;
    const char* name;
  };
  // A unit begins where three digits of the one below would round up to 1000.
  for (const Unit unit : {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}}) {
    if (std::abs(seconds) >= 0.9995 * unit.seconds) {
      return fmt::format("{} {}", format_figure(seconds / unit.seconds), unit.name);
    }
  }
  return fmt::format("{} ns", format_figure(seconds / 1e-9));
}

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string format_pace(double times_as_fast, std::string_view other) {
  constexpr double alike = 1.03;
  const bool slower = times_as_fast < 1 / alike;
  std::string text = slower                   ? format_figure(1 / times_as_fast) + " times slower"
                     : times_as_fast <= alike ? "as fast"
                                              : format_figure(times_as_fast) + " times as fast";
  return other.empty() ? text : fmt::format("{} {} {}", text, slower ? "than" : "as", other);
}

} // namespace diffbench::bench
