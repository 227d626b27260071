// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

// Expected values: R, quantile(x, p, type = 7).
TEST(Quantile, InterpolatesAsRType7) {
  const std::vector<double> values{1, 2, 4, 8, 16};
  EXPECT_DOUBLE_EQ(quantile(values, 0.0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 12.8);
  EXPECT_DOUBLE_EQ(quantile(values, 1.0), 16);
  const std::vector<double> even{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(even, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(even, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(even, 0.75), 5);
}

TEST(Quartiles, OfUnsortedValues) {
  const Quartiles q = quartiles({8, 1, 4, 2});
  EXPECT_DOUBLE_EQ(q.min, 1);
  EXPECT_DOUBLE_EQ(q.q1, 1.75);
  EXPECT_DOUBLE_EQ(q.median, 3);
  EXPECT_DOUBLE_EQ(q.q3, 5);
  EXPECT_DOUBLE_EQ(q.max, 8);
  EXPECT_DOUBLE_EQ(q.relative_spread(), (5 - 1.75) / 2 / 3);
}

TEST(Quartiles, OfOneValueHaveNoSpread) {
  const Quartiles q = quartiles({7});
  EXPECT_DOUBLE_EQ(q.min, 7);
  EXPECT_DOUBLE_EQ(q.q1, 7);
  EXPECT_DOUBLE_EQ(q.median, 7);
  EXPECT_DOUBLE_EQ(q.max, 7);
  EXPECT_DOUBLE_EQ(q.relative_spread(), 0);
}

TEST(Quartiles, OfSamplesArePerIteration) {
  const std::vector<Sample> samples{
      {.iterations = 10, .seconds = 20, .cpu_seconds = {}},
      {.iterations = 10, .seconds = 40, .cpu_seconds = {}},
      {.iterations = 10, .seconds = 30, .cpu_seconds = {}},
  };
  EXPECT_DOUBLE_EQ(iteration_quartiles(samples).median, 3);
}

std::vector<double> one_to(int n) {
  std::vector<double> values;
  for (int value = n; value >= 1; --value) {
    values.push_back(value);
  }
  return values;
}

// Ranks and confidences: Conover's table of the binomial distribution, or R's qbinom and pbinom.
/// Steps of so many seconds, of which so many were stolen, beside others.
std::vector<Sample> disturbed_samples(
    const std::vector<std::pair<double, double>>& seconds_and_stolen, double slack = 0.1) {
  std::vector<Sample> samples;
  for (const auto& [seconds, stolen] : seconds_and_stolen) {
    samples.push_back({.iterations = 1,
                       .seconds = seconds,
                       .cpu_seconds = {},
                       .stolen_seconds = stolen,
                       .slack = slack});
  }
  return samples;
}

TEST(LeastDisturbed, AreThoseOfWhichNothingWasStolen) {
  const auto samples = disturbed_samples({{1, 0}, {9, 8}, {2, 0}, {9, 8}, {3, 0.01}, {4, 3}});
  EXPECT_EQ(iteration_seconds(least_disturbed(samples)), (std::vector<double>{1, 2, 3}));
  const auto all = disturbed_samples({{1, 0.5}, {9, 9}, {2, 1}, {8, 2}, {4, 4}});
  EXPECT_EQ(iteration_seconds(least_disturbed(all)), (std::vector<double>{1, 2, 8}))
      << "three at least";
  EXPECT_EQ(least_disturbed(disturbed_samples({{1, 0}, {9, 8}, {2, 0}, {9, 8}, {3, 0}}, 0)).size(),
            5U)
      << "nobody disturbed";
}

TEST(IdleInterval, HoldsWhatWasStolenAndTheSlack) {
  const Interval interval = idle_interval(disturbed_samples({{2, 0.9}, {2, 0.9}, {2, 0.9}}));
  EXPECT_DOUBLE_EQ(interval.low, 1.1 / 1.1);
  EXPECT_DOUBLE_EQ(interval.high, 2 * 1.1);
  std::vector<Sample> worked = disturbed_samples({{4, 4}, {4, 4}, {4, 4}});
  for (Sample& sample : worked) {
    sample.worked_seconds = 3.3; // it took as long in any case
  }
  EXPECT_DOUBLE_EQ(idle_interval(worked).low, 3.3 / 1.1);
  EXPECT_DOUBLE_EQ(idle_interval(worked).high, 4 * 1.1);
  worked.pop_back();
  EXPECT_DOUBLE_EQ(idle_interval(worked).low, 4 * 1.1 / 1000) << "two say little";
  EXPECT_DOUBLE_EQ(idle_interval(worked).high, 4 * 1.1);
}

TEST(WidthOf, IsKnownWhereOthersWereLookedFor) {
  const std::vector<Sample> samples = disturbed_samples({{2, 0.9}, {2, 0.9}, {2, 0.9}});
  EXPECT_DOUBLE_EQ(width_of(samples).value().low, 0.5);
  EXPECT_DOUBLE_EQ(width_of(samples).value().high, 1.1);
  EXPECT_DOUBLE_EQ(width_of(disturbed_samples({{2, 1}, {2, 1}}, 0)).value().high, 1);
  std::vector<Sample> unknown = samples;
  unknown.front().slack.reset();
  EXPECT_FALSE(width_of(unknown));
  EXPECT_FALSE(width_of({}));
}

TEST(MedianInterval, IsBetweenTheRanksOfTheBinomialDistribution) {
  struct Expected {
    int n;
    double low, high, confidence;
  };
  for (const auto& [n, low, high, confidence] :
       {Expected{6, 1, 6, 0.96875}, Expected{8, 1, 8, 0.9921875}, Expected{9, 2, 8, 0.9609375},
        Expected{20, 6, 15, 0.95861053}, Expected{100, 40, 61, 0.96479979}}) {
    SCOPED_TRACE(n);
    const auto interval = median_interval(one_to(n));
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, low);
    EXPECT_EQ(interval->high, high);
    EXPECT_NEAR(interval->confidence, confidence, 1e-8);
  }
}

TEST(MedianInterval, OfFewValuesSaysHowLittleItIsSureOf) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval({7}));
  const auto two = median_interval({8, 7});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->low, 7);
  EXPECT_EQ(two->high, 8);
  EXPECT_NEAR(two->confidence, 0.5, 1e-12);
  EXPECT_NEAR(median_interval({1, 2, 3, 4, 5})->confidence, 0.9375, 1e-12);
}

TEST(IsPrecise, WhenHalfTheIntervalIsNarrowEnough) {
  auto samples = [](int count) {
    std::vector<Sample> result;
    for (int i = 0; i < count; ++i) { // median 1, interval 0.9 to 1.1
      result.push_back({.iterations = 2, .seconds = 2 * (0.9 + 0.1 * (i % 3)), .cpu_seconds = {}});
    }
    return result;
  };
  EXPECT_TRUE(is_precise(samples(9), 0.11));
  EXPECT_FALSE(is_precise(samples(9), 0.09));
  EXPECT_FALSE(is_precise(samples(6), 10)); // too few to be sure
  EXPECT_FALSE(is_precise({}, 10));
}

TEST(MedianInterval, OfManyValuesStaysFinite) {
  const auto interval = median_interval(one_to(5000));
  ASSERT_TRUE(interval);
  // Normal approximation: 2500 -+ 1.96 sqrt(5000) / 2.
  EXPECT_NEAR(interval->low, 2431, 2);
  EXPECT_NEAR(interval->high, 2570, 2);
  EXPECT_NEAR(interval->confidence, 0.95, 2e-3);
}

} // namespace
} // namespace diffbench::bench
