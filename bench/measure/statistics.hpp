// SPDX-License-Identifier: Apache-2.0
// Order statistics of timing samples. Times are skewed to the right, so median and quartiles are
// reported, never mean and standard deviation.
#pragma once

#include "result.hpp"

#include <optional>
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
[[nodiscard]] double median_of(std::vector<double> values);

/// Of the seconds per iteration of the samples, at least one.
[[nodiscard]] Quartiles iteration_quartiles(std::span<const Sample> samples);

/// Of the same, as Quartiles has it; empty of fewer than two samples.
[[nodiscard]] std::optional<double> relative_spread(std::span<const Sample> samples);

/// The seconds per iteration of the samples, in their order.
[[nodiscard]] std::vector<double> iteration_seconds(std::span<const Sample> samples);

/// Those of which the least part was stolen, in their order: where it was of hardly anything of a
/// quarter of them, and of three at least, these; else so many. Whether one is taken does not
/// depend on its time.
[[nodiscard]] std::vector<Sample> least_disturbed(std::span<const Sample> samples);

/// Whether other programs may have changed the time of any.
[[nodiscard]] bool disturbed(std::span<const Sample> samples);

/// Covers what it estimates with probability `confidence`, if the samples are independent.
struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0;
};

/// Of the true median, whatever the distribution: the closest pair of order statistics, as many
/// from below as from above, that covers it with at least `confidence`.
/// Planned: the number of values below the median is binomial (Conover, "Practical Nonparametric
/// Statistics", 3rd ed. 1999, 3.2). Few values (at 95 % fewer than 6, at 99 % than 8) cannot: then
/// all of their range, with the confidence that it has. Empty for fewer than 2.
/// Sequential: all intervals of all numbers of values cover it at once (sign_evidence.hpp). Of 20
/// values at 99 % it leaves out one value less on each side. Empty for fewer than can do that (at
/// 95 % fewer than 7, at 99 % than 10).
[[nodiscard]] std::optional<Interval> median_interval(std::vector<double> values,
                                                      double confidence = 0.95,
                                                      Stopping stopping = Stopping::planned);

/// Where the median of the samples, at least one, lies on an idle machine: at 99 % if there are
/// enough; from the least to the most that they allow otherwise. Fewer than three that others may
/// have changed give no lower bound, which is a thousandth of the upper one then.
[[nodiscard]] Interval idle_interval(std::span<const Sample> samples);

/// What times of a run become on an idle machine: between `low` and `high` times as long.
struct Width {
  double low = 1;
  double high = 1;
};

/// Of the median of the samples; empty where nobody looked for other programs.
[[nodiscard]] std::optional<Width> width_of(std::span<const Sample> samples);

/// Whether the median of the samples is known to a fraction of `precision`, by its interval, which
/// bears that one waits for this.
[[nodiscard]] bool is_precise(std::span<const Sample> samples, double precision);

} // namespace diffbench::bench
