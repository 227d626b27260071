// SPDX-License-Identifier: Apache-2.0
// Mistakes in what is compared: other code, other precision, other data.
#include "bandwidth.hpp"
#include "diffbench/machine.hpp"
#include "pitfall.hpp"
#include "untouched_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace diffbench::bench {

namespace {

template <typename A, typename B>
Finding both_timed(const Workbench& bench, Solve<A>& mistaken, Solve<B>& right) {
  return bench.in_turns(bench.timed_steps(mistaken), bench.timed_steps(right));
}

Finding slow_cpu_baseline(Workbench& bench) {
  Solve<float> numpy_style = bench.solve("xtensor_roll", 10);
  Solve<float> tuned = bench.solve("simd", 10);
  return both_timed(bench, numpy_style, tuned);
}

Finding float32_for_float64(Workbench& bench) {
  auto single_precision = bench.solve<float>("simd", 10);
  auto double_precision = bench.solve<double>("simd", 10);
  return both_timed(bench, single_precision, double_precision);
}

Finding oversubscribed_threads(Workbench& bench) {
  const int cpus = usable_cpus();
  const int too_many = std::min(8 * cpus, max_threads);
  Solve<float> crowded = bench.solve("simd", 100, {.threads = too_many});
  Solve<float> fitting = bench.solve("simd", 100, {.threads = cpus});
  return both_timed(bench, crowded, fitting);
}

/// Both in one session, so that nothing but the numbers differs.
Finding denormals(Workbench& bench) {
  // Below 1.2e-38 float32 has no leading 1 to hide.
  constexpr double denormal_scale = 1e-39;
  Solve<float> tiny = bench.solve("fused", 10, {}, denormal_scale);
  Solve<float> ordinary = bench.solve("fused", 10);
  const auto in_one_session = [&bench](Solve<float>& solve, Solve<float>& other) -> Way {
    const Way alone = bench.timed_steps(solve);
    return {.sample =
                [&solve, &other, alone] {
                  solve.take_session(other);
                  return alone.sample();
                },
            .was_right = alone.was_right};
  };
  return bench.in_turns(in_one_session(tiny, ordinary), in_one_session(ordinary, tiny));
}

std::uint64_t sum_of(std::span<const std::uint64_t> words) {
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) {
    sum += word;
  }
  return sum;
}

/// Pages that were only ever read are all the same one page of zeros, which lies in the cache.
Finding untouched_zeros(Workbench& bench) {
  const std::size_t size = static_cast<std::size_t>(copy_array_bytes()) / sizeof(std::uint64_t);
  UntouchedMemory<std::uint64_t> zeros(size);
  UntouchedMemory<std::uint64_t> data(size);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < size; ++i) {
    data.elements()[i] = i;
    expected += i;
  }
  std::uint64_t sum = 0;
  const auto way = [&](UntouchedMemory<std::uint64_t>& memory, std::uint64_t right_sum) -> Way {
    return {[&] {
              sum = 1; // neither sum
              return bench.seconds([&] { sum = sum_of(memory.elements()); });
            },
            [&sum, right_sum] { return sum == right_sum; }};
  };
  return bench.in_turns(way(zeros, 0), way(data, expected));
}

} // namespace

std::span<const MeasuredPitfall> comparison_pitfalls() {
  static constexpr std::array table{
      MeasuredPitfall{"slow-cpu-baseline", slow_cpu_baseline},
      MeasuredPitfall{"float32-for-float64", float32_for_float64},
      MeasuredPitfall{"oversubscribed-threads", oversubscribed_threads},
      MeasuredPitfall{"denormals", denormals},
      MeasuredPitfall{"untouched-zeros", untouched_zeros},
  };
  return table;
}

} // namespace diffbench::bench
