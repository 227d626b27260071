// SPDX-License-Identifier: Apache-2.0
#include "run_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace diffbench::bench {

namespace {

/// Fewer say nothing of how they scatter.
constexpr std::size_t least_samples = 3;
constexpr std::size_t least_other_rows = 3;
/// Of the standard normal distribution, 99 % are within.
constexpr double normal_quantile = 2.576;
/// The standard deviation of a normal distribution over its median absolute deviation.
constexpr double deviation_of_median = 1.4826;

// std::hypot() would ask for the C library of 2022.
double of_both(double a, double b) { return std::sqrt(a * a + b * b); }

/// Standard deviation of the logarithms of the medians of 4 stretches of the run, or of its samples
/// where there are fewer than 4.
double scatter_of_stretches(const std::vector<double>& seconds) {
  const std::size_t n = seconds.size();
  const std::size_t stretches = std::min<std::size_t>(4, n);
  std::vector<double> logarithms;
  double sum = 0;
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto begin = seconds.begin() + static_cast<std::ptrdiff_t>(i * n / stretches);
    const auto end = seconds.begin() + static_cast<std::ptrdiff_t>((i + 1) * n / stretches);
    logarithms.push_back(std::log(median_of({begin, end})));
    sum += logarithms.back();
  }
  const double mean = sum / static_cast<double>(stretches);
  double squares = 0;
  for (const double value : logarithms) {
    squares += (value - mean) * (value - mean);
  }
  return std::sqrt(squares / static_cast<double>(stretches - 1));
}

bool enough(const RowInTwoRuns& row) {
  return std::min(row.old_seconds.size(), row.new_seconds.size()) >= least_samples;
}

/// What the rows but that of `index` have changed, as a standard deviation; 0 for too few of them.
double change_of_others(const std::vector<double>& changes, std::size_t index) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i != index) {
      sizes.push_back(std::abs(changes[i]));
    }
  }
  return sizes.size() < least_other_rows ? 0 : deviation_of_median * median_of(sizes);
}

} // namespace

std::vector<Ratio> run_ratios(std::span<const RowInTwoRuns> rows, double run_spread) {
  std::vector<Ratio> ratios;
  std::vector<double> changes;
  for (const RowInTwoRuns& row : rows) {
    const double ratio = median_of(row.new_seconds) / median_of(row.old_seconds);
    ratios.push_back({.value = ratio, .interval = {}});
    changes.push_back(std::log(ratio));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowInTwoRuns& row = rows[i];
    if (!enough(row)) {
      continue;
    }
    const double deviation = std::max(
        {of_both(run_spread, run_spread),
         of_both(scatter_of_stretches(row.old_seconds), scatter_of_stretches(row.new_seconds)),
         change_of_others(changes, i)});
    const double load = -2 * std::log(std::clamp(row.cpu_share, 1e-3, 1.0));
    const double reach = std::max(normal_quantile * deviation, load);
    ratios[i].interval = Interval{.low = std::exp(changes[i] - reach),
                                  .high = std::exp(changes[i] + reach),
                                  .confidence = ratio_confidence};
  }
  return ratios;
}

double smallest_visible(const Ratio& ratio, double least_effect) {
  if (!ratio.interval) {
    return std::numeric_limits<double>::infinity();
  }
  return ratio.value / ratio.interval->low * (1 + least_effect) - 1;
}

} // namespace diffbench::bench
