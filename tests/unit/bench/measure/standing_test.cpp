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

TEST(Standings, ShareAlphaByHolmsRule) {
  // 10 values speak at 1 %, and not at half of it, at which 11 do.
  const std::vector<std::vector<double>> alone{around(1.1, 10)};
  EXPECT_EQ(standings(alone, standing_asked).front().verdict, Verdict::slower);
  const std::vector<std::vector<double>> two{around(1.1, 10), around(1.1, 10)};
  EXPECT_EQ(standings(two, standing_asked)[0].verdict, Verdict::unclear);
  // The second is a difference by its own part; what it no longer needs is the first one's.
  const std::vector<std::vector<double>> helped{around(1.1, 10), around(0.9, 11)};
  const std::vector<Standing> found = standings(helped, standing_asked);
  EXPECT_EQ(found[0].verdict, Verdict::slower);
  EXPECT_EQ(found[1].verdict, Verdict::faster);
  EXPECT_DOUBLE_EQ(found[0].alpha, 0.01);
  EXPECT_DOUBLE_EQ(found[1].alpha, 0.005);
  // SAME is no difference, and gives nothing back.
  const std::vector<std::vector<double>> same{around(1.1, 10), around(1, 11)};
  EXPECT_EQ(standings(same, standing_asked)[0].verdict, Verdict::unclear);
  EXPECT_EQ(standings(same, standing_asked)[1].verdict, Verdict::same);
}

TEST(Standings, CountClaimsThatAreNotAmongThem) {
  const std::vector<std::vector<double>> one{around(1.1, 10)};
  EXPECT_EQ(standings(one, standing_asked, 1).front().verdict, Verdict::slower);
  EXPECT_EQ(standings(one, standing_asked, 2).front().verdict, Verdict::unclear);
  EXPECT_TRUE(standings({}, standing_asked, 3).empty());
}

// Three equal things, looked at after each value: a difference in any of them.
TEST(Standings, OfEqualThingsAreDifferencesAsRarelyAsPromised) {
  constexpr VerdictRule asked{.margin = 0, .alpha = 0.05};
  int wrong = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::vector<std::vector<double>> all{around(1, 60, 0.1, seed), around(1, 60, 0.1, seed + 1000),
                                         around(1, 60, 0.1, seed + 2000)};
    bool any = false;
    for (std::size_t n = 10; n <= 60 && !any; n += 2) {
      std::vector<std::vector<double>> now;
      for (const std::vector<double>& each : all) {
        now.emplace_back(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(n));
      }
      for (const Standing& found : standings(now, asked)) {
        any = any || is_difference(found.verdict);
      }
    }
    wrong += any ? 1 : 0;
  }
  EXPECT_LE(wrong, 26); // 15 expected at most; more than 26 with a probability of 0.3 %
  EXPECT_GE(wrong, 1);  // one that never speaks would be too strict
}

} // namespace
} // namespace diffbench::bench
