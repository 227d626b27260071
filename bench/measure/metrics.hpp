// SPDX-License-Identifier: Apache-2.0
// The figures derived from a row's samples, computed in one place for all reports.
#pragma once

#include "ratio.hpp"
#include "result.hpp"
#include "statistics.hpp"

#include <optional>

namespace diffbench::bench {

struct Metrics {
  Quartiles time;                        ///< seconds per iteration
  std::optional<Interval> time_interval; ///< of the median
  double cells_per_second = 0;
  double bytes_per_second = 0;            ///< by the convention of Problem::bytes_per_step()
  std::optional<double> fraction_of_copy; ///< empty on a device: the copy is the host's
  std::optional<double> vs_baseline;      ///< how many times as fast as the baseline
  /// By the rounds in which both took a sample, so it need not lie around vs_baseline.
  std::optional<Interval> vs_baseline_interval;
  std::optional<double> vs_best_cpu; ///< the same against the fastest CPU backend, peers left out
};

/// The fastest ranked row of a CPU backend, peers left out; nullptr without any.
[[nodiscard]] const Row* best_cpu(const ComparisonResult& result);

/// Empty for a row that is not ranked: what is not proved right has no figures.
[[nodiscard]] std::optional<Metrics> metrics(const ComparisonResult& result, const Row& row);

} // namespace diffbench::bench
