// SPDX-License-Identifier: Apache-2.0
#include "scaling_law.hpp"

#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

namespace diffbench::bench {

namespace {

constexpr int resamples = 2000;
constexpr unsigned seed = 1967;

/// With w as below, 1 - E is s w, under both laws; a relative error of a time is then an absolute
/// one of both sides, near enough, so all points weigh the same.
double weight(Scaling scaling, double n, double efficiency) {
  return scaling == Scaling::strong ? efficiency * (n - 1) : (n - 1) / n;
}

double law(Scaling scaling, double n, double fraction) {
  return scaling == Scaling::strong ? 1 / (1 + fraction * (n - 1)) : 1 - fraction * (n - 1) / n;
}

double fit(Scaling scaling, std::span<const ScalingPoint> points) {
  double numerator = 0;
  double denominator = 0;
  for (const ScalingPoint& point : points.subspan(1)) {
    const double n = point.threads;
    const double efficiency = speed_up(point, points.front()) / n;
    const double w = weight(scaling, n, efficiency);
    numerator += (1 - efficiency) * w;
    denominator += w * w;
  }
  return numerator / denominator;
}

/// The fit to as many samples drawn from each point's, with replacement.
double fit_to_resample(Scaling scaling, std::span<const ScalingPoint> points,
                       std::mt19937& random) {
  std::vector<ScalingPoint> drawn(points.begin(), points.end());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::uniform_int_distribution<std::size_t> index(0, points[i].seconds.size() - 1);
    for (double& seconds : drawn[i].seconds) {
      seconds = points[i].seconds[index(random)];
    }
  }
  return fit(scaling, drawn);
}

} // namespace

double speed_up(const ScalingPoint& point, const ScalingPoint& one) {
  return point.cells / quartiles(point.seconds).median /
         (one.cells / quartiles(one.seconds).median);
}

double serial_fraction(Scaling scaling, int threads, double speed_up) {
  const double efficiency = speed_up / threads;
  return (1 - efficiency) / weight(scaling, threads, efficiency);
}

std::optional<SerialFraction> fit_serial_fraction(Scaling scaling,
                                                  std::span<const ScalingPoint> points) {
  if (points.size() < 2) {
    return std::nullopt;
  }
  SerialFraction fraction{.value = fit(scaling, points),
                          .points = static_cast<int>(points.size()) - 1};
  for (const ScalingPoint& point : points.subspan(1)) {
    const double efficiency = speed_up(point, points.front()) / point.threads;
    fraction.worst_error =
        std::max(fraction.worst_error,
                 std::abs(efficiency / law(scaling, point.threads, fraction.value) - 1));
  }
  if (std::ranges::any_of(points,
                          [](const ScalingPoint& point) { return point.seconds.size() < 2; })) {
    return fraction;
  }
  std::mt19937 random(seed);
  std::vector<double> values(resamples);
  for (double& value : values) {
    value = fit_to_resample(scaling, points, random);
  }
  std::ranges::sort(values);
  fraction.low = quantile(values, 0.025);
  fraction.high = quantile(values, 0.975);
  return fraction;
}

} // namespace diffbench::bench
