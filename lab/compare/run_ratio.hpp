// SPDX-License-Identifier: Apache-2.0
// How many times as long a row took in a second run as in a first, and what may be concluded.
//
// Samples of one run are neighbours in time: they agree with one another better than with those of
// another run, which met another load, clock and placement of memory. So their number must not
// narrow the interval, as it does within a run (ratio.hpp); what counts is how far runs of the same
// program lie apart. docs/measuring.md has the measurements behind the numbers.
#pragma once

#include "ratio.hpp"

#include <span>
#include <vector>

namespace diffbench::bench {

/// What two runs say of one row: seconds per iteration in the order in which they were taken.
struct RowInTwoRuns {
  std::vector<double> old_seconds;
  std::vector<double> new_seconds;
  /// Of a CPU's time, what the row's threads got in the run in which they got less. 1: all, or not
  /// known.
  double cpu_share = 1;
};

/// How far the median of a run lies from that of another run of the same program on a quiet
/// machine: the standard deviation of its logarithm.
inline constexpr double default_run_spread = 0.02;

/// Of medians, new over old, for each row, in their order; no interval with fewer than 3 samples on
/// a side. The interval reaches as far to both sides as the largest of
/// - 2.58 (99 % of a normal distribution) standard deviations between two runs. That deviation is
///   the largest of: `run_spread` in both; what the medians of 4 stretches of each run scatter,
///   since noise that drifts (1/f) scatters over longer times as much as over shorter; what the
///   other rows, at least 3, have changed at the median: a machine changes all, a code few;
/// - what other programs can have done: the CPU time that they took, and as much again for the
///   caches that they used.
[[nodiscard]] std::vector<Ratio> run_ratios(std::span<const RowInTwoRuns> rows,
                                            double run_spread = default_run_spread);

/// The least slowdown, 0.1 being 10 %, that would have got a verdict with such an interval;
/// infinite without one.
[[nodiscard]] double smallest_visible(const Ratio& ratio,
                                      double least_effect = least_effect_in_run);

} // namespace diffbench::bench
