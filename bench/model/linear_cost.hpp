// SPDX-License-Identifier: Apache-2.0
// The two-parameter model of a copy: t = latency + bytes / bandwidth.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace diffbench::bench {

struct CostPoint {
  std::int64_t bytes = 0;
  double seconds = 0; ///< > 0
};

struct LinearCost {
  double latency = 0;          ///< seconds, >= 0
  double bytes_per_second = 0; ///< with infinitely many bytes
  double median_residual = 0;  ///< |model / measured - 1|, over the points
  double worst_residual = 0;
  std::int64_t worst_bytes = 0; ///< where that is

  [[nodiscard]] double seconds(std::int64_t bytes) const {
    return latency + static_cast<double>(bytes) / bytes_per_second;
  }
  /// The size at which half of the bandwidth is reached: n_1/2 of Hockney, "Parallel Computers"
  /// (1981), whose r_infinity is the bandwidth.
  [[nodiscard]] double half_bandwidth_bytes() const { return latency * bytes_per_second; }
};

/// Fits by least squares of the relative residuals model / measured - 1: the times span six powers
/// of ten and their errors grow with them, so that absolute residuals would let the largest copy
/// alone decide and say nothing of the latency. Points that do not follow the others (a disturbed
/// one, a change of method) have less weight, after Huber, "Robust Estimation of a Location
/// Parameter" (Annals of Mathematical Statistics 35, 1964). Empty with fewer than three sizes, or
/// where time does not grow with size.
[[nodiscard]] std::optional<LinearCost> fit_linear_cost(std::span<const CostPoint> points);

} // namespace diffbench::bench
