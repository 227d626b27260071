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

std::optional<Metrics> metrics(const ComparisonResult& result, const Row& row) {
  if (!row.ranked()) {
    return std::nullopt;
  }
  Metrics metrics;
  metrics.time = iteration_quartiles(row.samples);
  const double seconds = metrics.time.median;
  metrics.cells_per_second = static_cast<double>(result.problem.cells()) / seconds;
  metrics.bytes_per_second = static_cast<double>(result.problem.bytes_per_step()) / seconds;
  if (result.copy && result.copy->best() > 0) {
    metrics.fraction_of_copy = metrics.bytes_per_second / result.copy->best();
  }
  metrics.vs_baseline = speedup(result.find(result.baseline), seconds);
  metrics.vs_best_cpu = speedup(
      fastest(result, [](const Row& other) { return !other.is_peer && other.device == "cpu"; }),
      seconds);
  return metrics;
}

} // namespace diffbench::bench
