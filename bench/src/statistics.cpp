#include "statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace diffbench::bench {

double quantile(std::span<const double> sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {.min = values.front(),
          .q1 = quantile(values, 0.25),
          .median = quantile(values, 0.5),
          .q3 = quantile(values, 0.75),
          .max = values.back()};
}

Quartiles iteration_quartiles(std::span<const Sample> samples) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) {
    values.push_back(sample.seconds_per_iteration());
  }
  return quartiles(std::move(values));
}

} // namespace diffbench::bench
