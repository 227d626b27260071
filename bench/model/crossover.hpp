// SPDX-License-Identifier: Apache-2.0
// From where on one way of running wins against another: the point where the ratio of their times
// crosses 1, and how sure that is.
#pragma once

#include "ratio.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// Both at one size (cells on a side of the grid, or iterations).
struct Contest {
  double size = 0;
  Ratio ratio; ///< time of the one that may win over that of the one that stands
};

/// The challenger wins at all sizes above `size`: 0 where it wins at all that were measured,
/// infinity where it does not at the largest.
struct Crossover {
  double size = 0;
  double low = 0;     ///< from where on it may win, with the same two special values
  double high = 0;    ///< from where on it is shown to win
  bool single = true; ///< the ratio crosses 1 once; otherwise `size` is the last of several
};

/// `contests` in ascending order of size. The ratio is interpolated between neighbouring sizes,
/// linearly in the logarithms of both; `low` and `high` are where the ends of its interval cross 1,
/// each by `least_effect` more, or the next size where a ratio has no interval. They know the noise
/// within a measurement, not the drift between two. Empty without contests.
[[nodiscard]] std::optional<Crossover> find_crossover(std::span<const Contest> contests,
                                                      double least_effect = least_effect_in_run);

/// "612 (540 to 700)", "612 (at least 540)", "everywhere", "nowhere", "nowhere (or from 540)" where
/// the samples allow that, too, and "nowhere (not settled)" where they allow everything.
[[nodiscard]] std::string to_text(const Crossover& crossover);
/// What follows "everywhere" and "nowhere" in a sentence where the samples allow something else,
/// too: "; by the scatter of the samples perhaps only from 540 parameters on", or nothing.
[[nodiscard]] std::string doubt_text(const Crossover& crossover, std::string_view unit = {});

} // namespace diffbench::bench
