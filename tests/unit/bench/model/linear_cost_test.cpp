// SPDX-License-Identifier: Apache-2.0
#include "linear_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr double latency = 8e-6;
constexpr double bandwidth = 25e9;

/// 1 KiB to 1 GiB in powers of two, exactly as the model has it.
std::vector<CostPoint> exact_points() {
  std::vector<CostPoint> points;
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2) {
    points.push_back({bytes, latency + static_cast<double>(bytes) / bandwidth});
  }
  return points;
}

TEST(LinearCostTest, FindsWhatTheTimesWereMadeOf) {
  const auto fit = fit_linear_cost(exact_points());
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->latency, latency, 1e-6 * latency);
  EXPECT_NEAR(fit->bytes_per_second, bandwidth, 1e-6 * bandwidth);
  EXPECT_NEAR(fit->half_bandwidth_bytes(), 200e3, 1);
  EXPECT_NEAR(fit->seconds(1 << 20), latency + (1 << 20) / bandwidth, 1e-12);
  EXPECT_LT(fit->worst_residual, 1e-6);
}

TEST(LinearCostTest, NoiseOfAFewPercentMovesItByNoMore) {
  std::vector<CostPoint> points = exact_points();
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].seconds *= i % 2 == 0 ? 1.04 : 0.96;
  }
  const auto fit = fit_linear_cost(points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->latency, latency, 0.03 * latency);
  EXPECT_NEAR(fit->bytes_per_second, bandwidth, 0.03 * bandwidth);
  EXPECT_NEAR(fit->median_residual, 0.04, 0.01);
}

/// Each point in turn, disturbed: neither figure follows it, and it is named.
TEST(LinearCostTest, OnePointThatDoesNotFollowIsNotFollowed) {
  for (const double factor : {10.0, 2.0, 0.5}) {
    for (std::size_t outlier = 0; outlier < exact_points().size(); ++outlier) {
      std::vector<CostPoint> points = exact_points();
      points[outlier].seconds *= factor;
      const auto fit = fit_linear_cost(points);
      ASSERT_TRUE(fit);
      EXPECT_NEAR(fit->latency, latency, 0.02 * latency) << outlier;
      EXPECT_NEAR(fit->bytes_per_second, bandwidth, 0.02 * bandwidth) << outlier;
      EXPECT_EQ(fit->worst_bytes, points[outlier].bytes);
      EXPECT_NEAR(fit->worst_residual, std::abs(1 / factor - 1), 0.03);
    }
  }
}

TEST(LinearCostTest, ALatencyBelowZeroIsNone) {
  const auto fit =
      fit_linear_cost(std::vector<CostPoint>{{1000, 1e-9}, {2000, 3e-9}, {4000, 7e-9}});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->latency, 0);
  EXPECT_GT(fit->bytes_per_second, 0);
}

TEST(LinearCostTest, NoFitWhereThereIsNoLine) {
  EXPECT_FALSE(fit_linear_cost({}));
  EXPECT_FALSE(fit_linear_cost(std::vector<CostPoint>{{1000, 1e-6}, {2000, 2e-6}}));
  EXPECT_FALSE(fit_linear_cost(std::vector<CostPoint>(5, {1000, 1e-6}))) << "one size only";
  EXPECT_FALSE(fit_linear_cost(std::vector<CostPoint>{{1000, 8e-6}, {2000, 4e-6}, {4000, 1e-6}}))
      << "time shrinks";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fit_linear_cost(std::vector<CostPoint>{{1000, 1e-6}, {2000, nan}, {4000, 4e-6}}));
}

} // namespace
} // namespace diffbench::bench
