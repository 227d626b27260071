// SPDX-License-Identifier: Apache-2.0
#include "scaling_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace diffbench::bench {
namespace {

/// Times that obey a law, `noise` up and down.
std::vector<ScalingPoint> lawful(Scaling scaling, double fraction, std::vector<int> threads,
                                 double noise = 0) {
  std::vector<ScalingPoint> points;
  for (const int n : threads) {
    const double efficiency =
        scaling == Scaling::strong ? 1 / (1 + fraction * (n - 1)) : 1 - fraction * (n - 1) / n;
    ScalingPoint point{
        .threads = n, .cells = scaling == Scaling::strong ? 1e6 : 1e6 * n, .seconds = {}};
    const double seconds = point.cells / 1e9 / (efficiency * n);
    for (const double factor : {1 - noise, 1.0, 1 + noise, 1 + noise / 2, 1 - noise / 2}) {
      point.seconds.push_back(factor * seconds);
    }
    points.push_back(point);
  }
  return points;
}

class ScalingLawTest : public testing::TestWithParam<Scaling> {};

TEST_P(ScalingLawTest, TheFractionIsFoundAgain) {
  for (const double fraction : {0.0, 0.03, 0.5, 1.0, -0.1}) {
    const auto fit = fit_serial_fraction(GetParam(), lawful(GetParam(), fraction, {1, 2, 4, 8}));
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->value, fraction, 1e-12);
    EXPECT_NEAR(fit->worst_error, 0, 1e-12);
    EXPECT_EQ(fit->points, 3);
    EXPECT_NEAR(fit->low.value(), fraction, 1e-12);
    EXPECT_NEAR(fit->high.value(), fraction, 1e-12);
  }
}

TEST_P(ScalingLawTest, TwoCountsAreOneEquation) {
  const auto points = lawful(GetParam(), 0.2, {1, 4});
  const auto fit = fit_serial_fraction(GetParam(), points);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->points, 1);
  EXPECT_NEAR(fit->value, serial_fraction(GetParam(), 4, speed_up(points[1], points[0])), 1e-12);
}

TEST_P(ScalingLawTest, NoiseWidensTheInterval) {
  auto width = [](double noise) {
    const auto fit = fit_serial_fraction(GetParam(), lawful(GetParam(), 0.1, {1, 2, 4}, noise));
    EXPECT_LE(fit->low.value(), 0.1);
    EXPECT_GE(fit->high.value(), 0.1);
    return *fit->high - *fit->low;
  };
  EXPECT_GT(width(0.01), 0.001);
  EXPECT_GT(width(0.05), 3 * width(0.01));
  EXPECT_EQ(width(0.05), width(0.05)); // seeded
}

TEST_P(ScalingLawTest, AWrongLawShowsAsError) {
  auto points = lawful(GetParam(), 0.1, {1, 2, 4, 8});
  for (double& seconds : points.back().seconds) {
    seconds *= 2;
  }
  EXPECT_GT(fit_serial_fraction(GetParam(), points)->worst_error, 0.1);
}

TEST_P(ScalingLawTest, WithoutEnoughThereIsNoFitOrNoInterval) {
  EXPECT_FALSE(fit_serial_fraction(GetParam(), {}));
  auto points = lawful(GetParam(), 0.1, {1, 2});
  EXPECT_FALSE(fit_serial_fraction(GetParam(), std::span(points).first(1)));
  points[1].seconds.resize(1);
  const auto fit = fit_serial_fraction(GetParam(), points);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->low);
  EXPECT_FALSE(fit->high);
}

INSTANTIATE_TEST_SUITE_P(Laws, ScalingLawTest, testing::Values(Scaling::strong, Scaling::weak));

// Karp and Flatt, CACM 33 (1990): e = (1/S - 1/n) / (1 - 1/n).
TEST(SerialFraction, IsThatOfKarpAndFlatt) {
  EXPECT_NEAR(serial_fraction(Scaling::strong, 8, 5), (1 / 5.0 - 1 / 8.0) / (1 - 1 / 8.0), 1e-15);
}

// Gustafson, CACM 31 (1988): S = n - s (n-1).
TEST(SerialFraction, IsThatOfGustafson) {
  EXPECT_NEAR(serial_fraction(Scaling::weak, 1024, 1024 - 0.004 * 1023), 0.004, 1e-12);
}

} // namespace
} // namespace diffbench::bench
