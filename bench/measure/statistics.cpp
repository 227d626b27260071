// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include "sign_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
  std::ranges::sort(values);
  return {.min = values.front(),
          .q1 = quantile(values, 0.25),
          .median = quantile(values, 0.5),
          .q3 = quantile(values, 0.75),
          .max = values.back()};
}

double median_of(std::vector<double> values) { return quartiles(std::move(values)).median; }

std::vector<double> iteration_seconds(std::span<const Sample> samples) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) {
    values.push_back(sample.seconds_per_iteration());
  }
  return values;
}

std::vector<Sample> least_disturbed(std::span<const Sample> samples) {
  constexpr std::size_t fewest = 3;
  constexpr double hardly = 0.01;
  const auto share = [](const Sample& sample) {
    return sample.disturbed() ? sample.stolen_share() : 0;
  };
  std::vector<double> shares;
  std::ranges::transform(samples, std::back_inserter(shares), share);
  std::ranges::sort(shares);
  const std::size_t wanted = std::min(samples.size(), std::max(samples.size() / 4, fewest));
  const double most = wanted == 0 ? 0 : std::max(hardly, shares[wanted - 1]);
  std::vector<Sample> kept;
  std::ranges::copy_if(samples, std::back_inserter(kept),
                       [&](const Sample& sample) { return share(sample) <= most; });
  return kept;
}

bool disturbed(std::span<const Sample> samples) {
  return std::ranges::any_of(samples, &Sample::disturbed);
}

Interval idle_interval(std::span<const Sample> samples) {
  const std::vector<Sample> kept = least_disturbed(samples);
  const auto interval = [&](auto seconds) {
    std::vector<double> values;
    std::ranges::transform(kept, std::back_inserter(values), seconds);
    const auto of_median = median_interval(values, 0.99);
    return of_median.value_or(Interval{.low = values.front(), .high = values.front()});
  };
  constexpr std::size_t few = 3;           // of whatever length: the first ones meet cold caches
  constexpr double next_to_nothing = 1e-3; // of any bound that is known
  Interval idle = interval(&Sample::least_seconds_per_iteration);
  idle.high = interval(&Sample::most_seconds_per_iteration).high;
  if (disturbed(samples)) {
    idle.low = std::max(samples.size() < few ? 0 : idle.low, next_to_nothing * idle.high);
  }
  return idle;
}

std::optional<Width> width_of(std::span<const Sample> samples) {
  if (samples.empty() || !std::ranges::all_of(samples, [](const Sample& s) { return !!s.slack; })) {
    return std::nullopt;
  }
  const Interval idle = idle_interval(samples);
  const double median = iteration_quartiles(samples).median;
  return Width{.low = idle.low / median, .high = idle.high / median};
}

Quartiles iteration_quartiles(std::span<const Sample> samples) {
  return quartiles(iteration_seconds(least_disturbed(samples)));
}

std::optional<double> relative_spread(std::span<const Sample> samples) {
  return samples.size() > 1 ? std::optional(iteration_quartiles(samples).relative_spread())
                            : std::nullopt;
}

namespace {

/// Of ascending values, at least 2.
Interval planned_interval(std::span<const double> sorted, double confidence) {
  const double tail_wanted = (1 - confidence) / 2;
  // `tail` is the probability that at most `rank` of n values lie below the median. In logarithms,
  // since 2^-n leaves the range of a double.
  const auto n = static_cast<double>(sorted.size());
  auto probability = [&](std::size_t below) {
    const auto k = static_cast<double>(below);
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                    n * std::log(2.0));
  };
  std::size_t rank = 0;
  double tail = probability(0);
  while (tail + probability(rank + 1) <= tail_wanted) {
    tail += probability(++rank);
  }
  return {
      .low = sorted[rank], .high = sorted[sorted.size() - 1 - rank], .confidence = 1 - 2 * tail};
}

} // namespace

std::optional<Interval> median_interval(std::vector<double> values, double confidence,
                                        Stopping stopping) {
  if (values.size() < 2) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  if (stopping == Stopping::planned) {
    return planned_interval(values, confidence);
  }
  const std::int64_t rank = sequential_rank(std::ssize(values), 1 - confidence);
  if (rank == 0) {
    return std::nullopt;
  }
  const auto left_out = static_cast<std::size_t>(rank - 1);
  return Interval{.low = values[left_out],
                  .high = values[values.size() - 1 - left_out],
                  .confidence = confidence};
}

bool is_precise(std::span<const Sample> samples, double precision) {
  const auto interval = median_interval(iteration_seconds(samples), 0.95, Stopping::sequential);
  return interval &&
         (interval->high - interval->low) / 2 <= precision * iteration_quartiles(samples).median;
}

} // namespace diffbench::bench
