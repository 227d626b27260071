// SPDX-License-Identifier: Apache-2.0
// Which way a copy between host and device goes.
#pragma once

#include <array>
#include <string_view>

namespace diffbench::bench {

enum class Direction {
  h2d,
  d2h,
  both, ///< at the same time, each on a stream of its own
};

inline constexpr std::array all_directions{Direction::h2d, Direction::d2h, Direction::both};

[[nodiscard]] constexpr std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::h2d: return "h2d";
    case Direction::d2h: return "d2h";
    case Direction::both: return "both";
  }
  return "unknown";
}

} // namespace diffbench::bench
