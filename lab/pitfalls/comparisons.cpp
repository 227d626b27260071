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

std::span<const Pitfall> comparison_pitfalls() {
  static constexpr std::array table{
      Pitfall{.name = "slow-cpu-baseline",
              .usual = Effect::too_slow,
              .work = "10 steps, to the same bits",
              .mistake = "NumPy-style code as \"the CPU\"",
              .right = "the CPU's tuned code, on all its cores",
              .why = "most of what a GPU gains over whole-array code on one thread, tuned code on "
                     "the CPU gains as well",
              .absent = "on this grid and machine both take the same time",
              .advice = "Compare with the best code for the CPU, and name both baselines.",
              .measure = slow_cpu_baseline},
      Pitfall{.name = "float32-for-float64",
              .usual = Effect::too_fast,
              .work = "10 steps of simd, right in its own precision each",
              .mistake = "float32, presented as the same work",
              .right = "float64, as the program needs it",
              .why = "float32 moves half the bytes and fills a vector with twice the cells; it is "
                     "another result in less time",
              .absent = "neither bytes nor arithmetic limit a step of this size",
              .advice = "Compare equal precisions, and say which.",
              .measure = float32_for_float64},
      Pitfall{.name = "oversubscribed-threads",
              .usual = Effect::too_slow,
              .work = "100 steps of simd",
              .mistake = "eight threads for each usable CPU",
              .right = "one thread for each usable CPU",
              .why = "threads that wait for each other also wait for a CPU: each barrier costs "
                     "switches from thread to thread",
              .absent = "the threads had enough to do between their barriers",
              .advice =
                  "Use as many threads as the process may use CPUs (a container may have fewer "
                  "than the machine).",
              .measure = oversubscribed_threads},
      Pitfall{
          .name = "denormals",
          .usual = Effect::too_slow,
          .work = "10 steps of fused",
          .mistake = "on a field of denormal numbers",
          .right = "on a field of ordinary numbers",
          .why = "this CPU needs extra cycles for numbers below 1.2e-38, and test data that "
                 "decay become such numbers",
          .absent = "this CPU computes with denormal numbers as fast as with others; many do not",
          .advice =
              "Measure with data like those of the real run; a comparison says how many cells "
              "of its field are such numbers, and what they cost.",
          .measure = denormals},
      Pitfall{.name = "untouched-zeros",
              .usual = Effect::too_fast,
              .work = "a sum over twice the last-level cache",
              .mistake = "of an array fresh from calloc or np.zeros",
              .right = "of an array with data in it",
              .why = "memory that was never written is one page of zeros, mapped again and "
                     "again, and that page is in the cache",
              .absent = "reading memory is as fast here as reading one page again and again",
              .advice = "Write real data to every array before it is timed.",
              .measure = untouched_zeros},
  };
  return table;
}

} // namespace diffbench::bench
