// Order statistics of timing samples. Times are skewed to the right, so median and quartiles are
// reported, never mean and standard deviation.
#pragma once

#include "result.hpp"

#include <span>
#include <vector>

namespace diffbench::bench {

struct Quartiles {
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double max = 0;

  /// Half the interquartile range as a fraction of the median: "median +- spread".
  [[nodiscard]] double relative_spread() const { return (q3 - q1) / 2 / median; }
};

/// The p-quantile, p in [0, 1], of ascending values: linear interpolation between order
/// statistics, type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (The American
/// Statistician 50, 1996), the default of R and NumPy. `sorted` is not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double p);

/// Of values in any order, at least one.
[[nodiscard]] Quartiles quartiles(std::vector<double> values);

/// Of the seconds per iteration of the samples, at least one.
[[nodiscard]] Quartiles iteration_quartiles(std::span<const Sample> samples);

} // namespace diffbench::bench
