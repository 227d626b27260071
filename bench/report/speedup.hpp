// SPDX-License-Identifier: Apache-2.0
// How many times as fast a row on a device is as another one, by four measures that are often taken
// for one another.
#pragma once

#include "result.hpp"

#include <cstdint>
#include <optional>

namespace diffbench::bench {

/// What a GPU should be faster by to be worth its price, its power and the work of porting; the
/// rule of thumb of courses on practical HPC.
inline constexpr double gpu_worth_it = 10;

/// Each compares like with like, and is empty where one of the two has no such time.
struct Speedups {
  std::optional<double> kernels;       ///< its kernels by the device's clock, against the steps
  std::optional<double> per_iteration; ///< steps as the host sees them, launches included
  std::optional<double> warm;          ///< whole runs with both copies
  std::optional<double> cold;          ///< from nothing: context, memory, copies, steps
};

/// Empty in all when `against` is nullptr or not ranked.
[[nodiscard]] Speedups speedups(const ComparisonResult& result, const Row& row, const Row* against);

/// The least number of iterations from which a cold run of `row` ends before one of `against`,
/// taking what comes once and what comes with each iteration from their cold runs and samples.
/// Empty where that is never, or where one of them has no cold run.
[[nodiscard]] std::optional<std::int64_t> iterations_to_pay(const ComparisonResult& result,
                                                            const Row& row, const Row& against);

} // namespace diffbench::bench
