// SPDX-License-Identifier: Apache-2.0
// What is odd about the samples of a row, and what it hints at. Nothing is thrown away for it: the
// median bears a few odd samples, and the reader should know of the others.
#pragma once

#include "result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

enum class Irregularity {
  slow_first, ///< the first sample is far out: something was not warm
  drift,      ///< times rise or fall all along: clock frequency, temperature
  two_levels, ///< times are of two kinds: another load, or memory that came to lie elsewhere
  strays,     ///< single samples are far out: interrupts, another program for a moment
};
/// As in the result file: "slow_first".
[[nodiscard]] std::string_view to_string(Irregularity irregularity);

/// Of the samples' times in the order in which they were taken. Chance alone is reported in fewer
/// than 2 of 100 rows; deviations below 5 % never are.
[[nodiscard]] std::vector<Irregularity> irregularities(std::span<const double> seconds);

/// A sentence a kind, with the rows that have it and what to do.
[[nodiscard]] std::vector<std::string> irregularity_notes(std::span<const Row> rows);

} // namespace diffbench::bench
