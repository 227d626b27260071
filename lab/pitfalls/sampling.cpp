// SPDX-License-Identifier: Apache-2.0
// Mistakes in what is made of the samples.
#include "pitfall.hpp"
#include "statistics.hpp"

#include "diffbench/machine.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace diffbench::bench {

namespace {

/// How far a single sample may be from what the work takes.
Finding one_sample(Workbench& bench) {
  Solve<float> solve = bench.solve("simd", 10);
  Reading right{.seconds = 0, .samples = bench.samples(bench.timed_steps(solve), 101)};
  const Quartiles range = quartiles(iteration_seconds(right.samples));
  right.seconds = range.median;
  const bool slow_is_worse = range.max / range.median >= range.median / range.min;
  return {.mistaken = {.seconds = slow_is_worse ? range.max : range.min, .samples = {}},
          .right = right,
          .detail = fmt::format("{} samples lay between {} and {}", right.samples.size(),
                                format_seconds(range.min), format_seconds(range.max))};
}

/// Threads that keep every CPU busy while they live, four for each.
class BusyNeighbours {
 public:
  BusyNeighbours() {
    for (int i = 0; i < 4 * usable_cpus(); ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) {
        running_.fetch_add(1);
        while (!stop.stop_requested()) {
        }
      });
    }
    while (running_.load() < static_cast<int>(threads_.size())) {
      std::this_thread::yield();
    }
  }

 private:
  std::atomic<int> running_ = 0;
  std::vector<std::jthread> threads_; // joined before the rest goes
};

/// As many steps as take longer than a time slice of the scheduler: a shorter sample could pass
/// between two turns of its neighbours.
std::int64_t steps_of_a_long_sample(const Workbench& bench) {
  constexpr double long_sample_seconds = 0.01;
  constexpr std::int64_t most_steps = 2000;
  Solve<float> solve = bench.solve("fused", 1);
  solve.start();
  solve.run();
  const double step = bench.seconds([&] { solve.run(); });
  return step * most_steps <= long_sample_seconds
             ? most_steps
             : std::max<std::int64_t>(1, static_cast<std::int64_t>(long_sample_seconds / step));
}

/// One sample in ten is disturbed on purpose, by real load.
Finding mean_with_outlier(Workbench& bench) {
  Solve<float> solve = bench.solve("fused", steps_of_a_long_sample(bench));
  constexpr int count = 10;
  constexpr int disturbed = 6;
  std::optional<BusyNeighbours> neighbours;
  Reading right{.seconds = 0, .samples = bench.samples(bench.timed_steps(solve), count, [&](int i) {
                  neighbours.reset();
                  if (i == disturbed) {
                    neighbours.emplace();
                  }
                })};
  const std::vector<double> seconds = iteration_seconds(right.samples);
  right.seconds = median_of(seconds);
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {.mistaken = {.seconds = sum / static_cast<double>(seconds.size()), .samples = {}},
          .right = right,
          .detail = fmt::format("one of {} samples ran beside {} busy threads and took {}",
                                right.samples.size(), 4 * usable_cpus(),
                                format_seconds(std::ranges::max(seconds)))};
}

} // namespace

std::span<const MeasuredPitfall> sampling_pitfalls() {
  static constexpr std::array table{
      MeasuredPitfall{"one-sample", one_sample},
      MeasuredPitfall{"mean-with-outlier", mean_with_outlier},
  };
  return table;
}

} // namespace diffbench::bench
