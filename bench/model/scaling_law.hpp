// SPDX-License-Identifier: Apache-2.0
// Laws of scaling: which fraction of the work, fitted to measured times, does not share itself
// among threads.
//
// Both are laws of the efficiency E(n) = speed-up / n on n threads, s the serial fraction:
//   strong scaling, one problem:      E = 1 / (1 + s (n-1))   (Amdahl, AFIPS 30, 1967)
//   weak scaling, n times the work:   E = 1 - s (n-1)/n       (Gustafson, CACM 31, 1988)
// where speed-up is the ratio of work done per second to that of one thread. For a single n, the
// first is the metric of Karp and Flatt (CACM 33, 1990): where that grows with n, the loss is not
// serial work but what threads do to each other.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace diffbench::bench {

enum class Scaling { strong, weak };

/// What was measured on a number of threads.
struct ScalingPoint {
  int threads = 1;
  double cells = 0;            ///< of the grid
  std::vector<double> seconds; ///< of a step, all samples; not empty
};

/// Cells per second, by the median, over those of `one`.
[[nodiscard]] double speed_up(const ScalingPoint& point, const ScalingPoint& one);

/// The serial fraction that a single speed-up on n > 1 threads implies. Negative where it is more
/// than n.
[[nodiscard]] double serial_fraction(Scaling scaling, int threads, double speed_up);

struct SerialFraction {
  double value = 0;
  int points = 0;         ///< thread counts beyond one; with one there is nothing to test the law
  double worst_error = 0; ///< the largest relative distance of a measured efficiency from the law
  /// 95 % percentile bootstrap over the samples (Efron and Tibshirani, An Introduction to the
  /// Bootstrap, 1993, ch. 13): the noise within this run, not the error of the law. Empty where a
  /// point has a single sample.
  std::optional<double> low = {};
  std::optional<double> high = {};
};

/// The fit of least squares. points[0] is one thread; empty without another. The bootstrap is
/// seeded: the same samples give the same interval.
[[nodiscard]] std::optional<SerialFraction> fit_serial_fraction(
    Scaling scaling, std::span<const ScalingPoint> points);

} // namespace diffbench::bench
