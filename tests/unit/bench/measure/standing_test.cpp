// SPDX-License-Identifier: Apache-2.0
#include "standing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr VerdictRule standing_asked{.margin = 0.02, .alpha = 0.01};

std::vector<double> around(double ratio, std::size_t count, double scatter = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> noise(0, scatter);
  std::vector<double> quotients;
  while (quotients.size() < count) {
    quotients.push_back(ratio * noise(random));
  }
  return quotients;
}

TEST(Standing, HasAVerdictOfItsInterval) {
  EXPECT_EQ(standing(around(1.05, 10), standing_asked).verdict, Verdict::slower);
  EXPECT_EQ(standing(around(1 / 1.05, 10), standing_asked).verdict, Verdict::faster);
  EXPECT_EQ(standing(around(1.01, 10), standing_asked).verdict, Verdict::same);
  EXPECT_EQ(standing(around(1.05, 9), standing_asked).verdict, Verdict::unclear);
}

TEST(Standing, SaysHowManyValuesWouldDecide) {
  const std::vector<double> quotients = around(1.03, 20, 0.05);
  const Standing found = standing(quotients, standing_asked);
  ASSERT_EQ(found.verdict, Verdict::unclear);
  const auto wanted = values_to_decide(found, quotients, standing_asked.margin);
  ASSERT_TRUE(wanted);
  EXPECT_GT(*wanted, 20);
  const std::vector<double> decided = around(1.05, 10);
  EXPECT_FALSE(values_to_decide(standing(decided, standing_asked), decided, standing_asked.margin));
}

} // namespace
} // namespace diffbench::bench
