// SPDX-License-Identifier: Apache-2.0
#include "linear_cost.hpp"

#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace diffbench::bench {

namespace {

/// A point divided by its seconds: latency * u + seconds_per_byte * v should be 1.
struct Relative {
  double u;
  double v;
};

struct Line {
  double latency = 0;
  double seconds_per_byte = 0;

  [[nodiscard]] double residual(const Relative& point) const {
    return latency * point.u + seconds_per_byte * point.v - 1;
  }
};

/// Solves the normal equations; a latency below zero is no latency.
Line weighted_fit(const std::vector<Relative>& points, const std::vector<double>& weights) {
  double uu = 0;
  double uv = 0;
  double vv = 0;
  double u = 0;
  double v = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [pu, pv] = points[i];
    uu += weights[i] * pu * pu;
    uv += weights[i] * pu * pv;
    vv += weights[i] * pv * pv;
    u += weights[i] * pu;
    v += weights[i] * pv;
  }
  const double determinant = uu * vv - uv * uv;
  const double latency = (u * vv - v * uv) / determinant;
  if (latency >= 0) {
    return {.latency = latency, .seconds_per_byte = (v * uu - u * uv) / determinant};
  }
  return {.latency = 0, .seconds_per_byte = v / vv};
}

std::vector<double> absolute_residuals(const std::vector<Relative>& points, const Line& line) {
  std::vector<double> residuals(points.size());
  std::ranges::transform(points, residuals.begin(),
                         [&](const Relative& point) { return std::abs(line.residual(point)); });
  return residuals;
}

/// Iteratively reweighted least squares with Huber's weights: full up to 1.345 standard deviations,
/// which are estimated from the median residual (0.6745 of one if they are normal).
Line robust_fit(const std::vector<Relative>& points) {
  std::vector<double> weights(points.size(), 1);
  Line line = weighted_fit(points, weights);
  for (int iteration = 0; iteration < 50; ++iteration) {
    const std::vector<double> residuals = absolute_residuals(points, line);
    const double limit = 1.345 * std::max(median_of(residuals) / 0.6745, 1e-9);
    for (std::size_t i = 0; i < points.size(); ++i) {
      weights[i] = std::min(1.0, limit / std::max(residuals[i], 1e-12));
    }
    line = weighted_fit(points, weights);
  }
  return line;
}

} // namespace

std::optional<LinearCost> fit_linear_cost(std::span<const CostPoint> points) {
  std::set<std::int64_t> sizes;
  std::vector<Relative> relative;
  for (const CostPoint& point : points) {
    sizes.insert(point.bytes);
    relative.push_back({1 / point.seconds, static_cast<double>(point.bytes) / point.seconds});
  }
  if (sizes.size() < 3) {
    return std::nullopt;
  }
  const Line line = robust_fit(relative);
  if (!(line.seconds_per_byte > 0) || !std::isfinite(line.latency)) {
    return std::nullopt;
  }
  const std::vector<double> residuals = absolute_residuals(relative, line);
  const auto worst = std::ranges::max_element(residuals);
  return LinearCost{
      .latency = line.latency,
      .bytes_per_second = 1 / line.seconds_per_byte,
      .median_residual = median_of(residuals),
      .worst_residual = *worst,
      .worst_bytes = points[static_cast<std::size_t>(worst - residuals.begin())].bytes};
}

} // namespace diffbench::bench
