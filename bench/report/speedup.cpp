// SPDX-License-Identifier: Apache-2.0
#include "speedup.hpp"

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

namespace {

std::optional<double> ratio(const std::optional<double>& slow, const std::optional<double>& fast) {
  if (!slow || !fast || !(*fast > 0)) {
    return std::nullopt;
  }
  return *slow / *fast;
}

std::optional<double> wall(const std::optional<Phases>& phases) {
  return phases ? std::optional(phases->wall) : std::nullopt;
}

/// Of a whole run: the warm one's, else the cold one's.
std::optional<double> kernel_seconds(const Row& row) {
  for (const std::optional<Phases>* phases : {&row.warm, &row.cold}) {
    if (*phases && (*phases)->busy) {
      return (*phases)->busy->compute;
    }
  }
  return std::nullopt;
}

std::optional<double> seconds_of_steps(const Row& row, std::int64_t steps) {
  const auto each = seconds_per_iteration(row);
  return each ? std::optional(*each * static_cast<double>(steps)) : std::nullopt;
}

} // namespace

Speedups speedups(const ComparisonResult& result, const Row& row, const Row* against) {
  if (against == nullptr || !against->ranked() || !row.ranked()) {
    return {};
  }
  return {.kernels = ratio(seconds_of_steps(*against, result.iterations), kernel_seconds(row)),
          .per_iteration = ratio(seconds_per_iteration(*against), seconds_per_iteration(row)),
          .warm = ratio(wall(against->warm), wall(row.warm)),
          .cold = ratio(wall(against->cold), wall(row.cold))};
}

std::optional<std::int64_t> iterations_to_pay(const ComparisonResult& result, const Row& row,
                                              const Row& against) {
  if (!row.cold || !against.cold || !row.ranked() || !against.ranked()) {
    return std::nullopt;
  }
  const double each = *seconds_per_iteration(row);
  const double each_against = *seconds_per_iteration(against);
  const auto iterations = static_cast<double>(result.iterations);
  const double once = row.cold->wall - iterations * each;
  const double once_against = against.cold->wall - iterations * each_against;
  const double count = std::ceil((once - once_against) / (each_against - each));
  constexpr double never = 1e15;
  if (each < each_against && count < never) { // accept form: a NaN never pays
    return static_cast<std::int64_t>(std::max(count, 1.0));
  }
  return std::nullopt;
}

} // namespace diffbench::bench
