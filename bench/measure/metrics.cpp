// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

namespace diffbench::bench {

namespace {

std::optional<double> speedup(const Row* against, double seconds) {
  if (against == nullptr || !against->ranked()) {
    return std::nullopt;
  }
  return *seconds_per_iteration(*against) / seconds;
}

} // namespace

const Row* best_cpu(const ComparisonResult& result) {
  return fastest(result, [](const Row& row) { return !row.is_peer && !row.on_device(); });
}

std::optional<Metrics> metrics(const ComparisonResult& result, const Row& row) {
  if (!row.ranked()) {
    return std::nullopt;
  }
  Metrics metrics;
  metrics.time = iteration_quartiles(row.samples);
  metrics.time_interval = disturbed(row.samples) ? idle_interval(row.samples)
                                                 : median_interval(iteration_seconds(row.samples));
  const double seconds = metrics.time.median;
  metrics.cells_per_second = static_cast<double>(result.problem.cells()) / seconds;
  metrics.bytes_per_second = static_cast<double>(result.problem.bytes_per_step()) / seconds;
  if (!row.on_device() && result.copy && result.copy->best() > 0) {
    metrics.fraction_of_copy = metrics.bytes_per_second / result.copy->best();
  }
  const Row* baseline = result.find(result.baseline);
  metrics.vs_baseline = speedup(baseline, seconds);
  if (metrics.vs_baseline && baseline != &row) {
    if (const auto ratio = paired_ratio(baseline->samples, row.samples, result.stopping)) {
      metrics.vs_baseline_interval = ratio->interval;
    }
  }
  metrics.vs_best_cpu = speedup(best_cpu(result), seconds);
  return metrics;
}

} // namespace diffbench::bench
