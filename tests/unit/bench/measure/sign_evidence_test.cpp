// SPDX-License-Identifier: Apache-2.0
#include "sign_evidence.hpp"

#include "ratio.hpp"
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr double alpha = 0.01;

// By hand: C(2n, n) / 2^n where all lie on one side, and B by its recurrence from there.
TEST(SignEvidence, IsThatOfABetByJeffreysPrior) {
  EXPECT_NEAR(std::exp(log_sign_evidence(0, 1)), 1, 1e-12);
  EXPECT_NEAR(std::exp(log_sign_evidence(1, 1)), 1, 1e-12);
  EXPECT_NEAR(std::exp(log_sign_evidence(0, 10)), 184756.0 / 1024, 1e-9);
  EXPECT_NEAR(std::exp(log_sign_evidence(1, 10)), 184756.0 / 1024 / 19, 1e-9);
  EXPECT_NEAR(log_sign_evidence(3, 10), log_sign_evidence(7, 10), 1e-12);
}

TEST(SignEvidence, IsAFairGame) {
  for (std::int64_t n = 0; n < 200; ++n) {
    for (std::int64_t s = 0; s <= n; ++s) {
      const double before = std::exp(log_sign_evidence(s, n));
      const double after =
          (std::exp(log_sign_evidence(s, n + 1)) + std::exp(log_sign_evidence(s + 1, n + 1))) / 2;
      ASSERT_NEAR(after / before, 1, 1e-9) << s << " of " << n;
    }
  }
}

TEST(SequentialRank, GrowsFromTheFirstNumberThatCanDecide) {
  EXPECT_EQ(sequential_rank(0, alpha), 0);
  EXPECT_EQ(sequential_rank(9, alpha), 0);
  EXPECT_EQ(sequential_rank(10, alpha), 1);
  EXPECT_EQ(sequential_rank(14, alpha), 1);
  EXPECT_EQ(sequential_rank(15, alpha), 2);
  EXPECT_EQ(sequential_rank(20, alpha), 3);
  EXPECT_EQ(sequential_rank(6, 0.05), 0);
  EXPECT_EQ(sequential_rank(7, 0.05), 1);
  for (std::int64_t n = 1; n < 1000; ++n) {
    const std::int64_t rank = sequential_rank(n, alpha);
    ASSERT_LE(2 * rank, n);
    ASSERT_TRUE(rank == 0 || log_sign_evidence(rank - 1, n) >= std::log(1 / alpha) - 1e-9) << n;
    ASSERT_LT(log_sign_evidence(rank, n), std::log(1 / alpha) + 1e-9) << n;
  }
}

TEST(SequentialRank, StaysFiniteForManyValues) {
  const std::int64_t n = 1'000'000;
  const std::int64_t rank = sequential_rank(n, alpha);
  // Of order sqrt(n log n / 2) from the middle.
  EXPECT_NEAR(static_cast<double>(n / 2 - rank), 2400, 200);
}

/// Whether the interval of some number of values, 1 to `most`, misses the median.
template <typename Draw>
bool ever_misses(Draw draw, double median, std::size_t most) {
  static const std::vector<std::size_t> ranks = [] {
    std::vector<std::size_t> of;
    for (std::int64_t n = 0; n <= 1000; ++n) {
      of.push_back(static_cast<std::size_t>(sequential_rank(n, alpha)));
    }
    return of;
  }();
  std::vector<double> sorted;
  while (sorted.size() < most) {
    const double value = draw();
    sorted.insert(std::ranges::upper_bound(sorted, value), value);
    const std::size_t rank = ranks[sorted.size()];
    if (rank > 0 && !(sorted[rank - 1] <= median && median <= sorted[sorted.size() - rank])) {
      return true;
    }
  }
  return false;
}

// 2000 trials of at most 1 %: 20 expected, and more than 31 with a probability of 0.7 %.
constexpr int trials = 2000;
constexpr int most_misses = 31;
constexpr std::size_t most_values = 400;

TEST(SequentialInterval, CoversTheMedianAtAllNumbersOfValuesAtOnce) {
  std::mt19937 random(1);
  std::cauchy_distribution<double> heavy(3, 1);
  int misses = 0;
  for (int trial = 0; trial < trials; ++trial) {
    misses += ever_misses([&] { return heavy(random); }, 3, most_values) ? 1 : 0;
  }
  EXPECT_LE(misses, most_misses);
  EXPECT_GE(misses, 1); // one that never misses would be too wide
}

TEST(SequentialInterval, CoversTheMedianOfTiedValues) {
  std::mt19937 random(2);
  std::uniform_int_distribution<int> coarse(-1, 1); // a clock of three readings
  int misses = 0;
  for (int trial = 0; trial < trials; ++trial) {
    misses += ever_misses([&] { return coarse(random); }, 0, most_values) ? 1 : 0;
  }
  EXPECT_LE(misses, most_misses);
}

// The interval for a number of values that was planned is none for one that stops when it likes.
TEST(SequentialInterval, IsNeededWhereOneLooksAfterEachValue) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  int misses = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> values;
    bool missed = false;
    while (values.size() < 100 && !missed) {
      values.push_back(normal(random));
      const auto interval = median_interval(values, 1 - alpha);
      missed = interval && interval->confidence >= 1 - alpha &&
               !(interval->low <= 0 && 0 <= interval->high);
    }
    misses += missed ? 1 : 0;
  }
  EXPECT_GE(misses, 9); // 3 % of 300: three times what it promises
}

TEST(SequentialInterval, IsBetweenTheRanks) {
  std::vector<double> values;
  for (int value = 20; value >= 1; --value) {
    values.push_back(value);
  }
  const auto interval = median_interval(values, 0.99, Stopping::sequential);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 3);
  EXPECT_EQ(interval->high, 18);
  EXPECT_EQ(interval->confidence, 0.99);
  values.resize(9);
  EXPECT_FALSE(median_interval(values, 0.99, Stopping::sequential));
  EXPECT_FALSE(median_interval({}, 0.99, Stopping::sequential));
}

/// Blocks until a verdict on a true ratio, or `most`.
struct Decided {
  Verdict verdict;
  std::size_t blocks;
};
Decided decide(std::mt19937& random, double true_ratio, double scatter, std::size_t most) {
  std::lognormal_distribution<double> noise(std::log(true_ratio), scatter);
  std::vector<double> quotients;
  Verdict verdict = Verdict::unclear;
  while (verdict == Verdict::unclear && quotients.size() < most) {
    quotients.push_back(noise(random));
    verdict = judge(ratio_of(quotients, 1 - alpha, Stopping::sequential), 0.02);
  }
  return {verdict, quotients.size()};
}

TEST(SequentialVerdict, FindsFivePercentInFewBlocks) {
  std::mt19937 random(4);
  std::vector<double> blocks;
  int slower = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Decided decided = decide(random, 1.05, 0.015, 400);
    slower += decided.verdict == Verdict::slower ? 1 : 0;
    blocks.push_back(static_cast<double>(decided.blocks));
  }
  EXPECT_GE(slower, 396);
  EXPECT_LE(quartiles(blocks).median, 15);
}

TEST(SequentialVerdict, CallsIdenticalCodeTheSame) {
  std::mt19937 random(5);
  int same = 0;
  int wrong = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Verdict verdict = decide(random, 1, 0.03, 300).verdict;
    same += verdict == Verdict::same ? 1 : 0;
    wrong += is_difference(verdict) ? 1 : 0;
  }
  EXPECT_GE(same, 195);
  EXPECT_EQ(wrong, 0);
}

// An effect of exactly the margin is never decided: neither verdict on it would be right.
TEST(SequentialVerdict, StaysUnclearAtTheMarginItself) {
  std::mt19937 random(6);
  int wrong = 0;
  for (int trial = 0; trial < 40; ++trial) {
    wrong += decide(random, 1.02, 0.01, 150).verdict != Verdict::unclear ? 1 : 0;
  }
  EXPECT_LE(wrong, 3); // 0.4 expected at most
}

TEST(QuotientsToDecide, ExtrapolatesWhatIsThere) {
  std::vector<double> quotients;
  for (int i = 0; i < 40; ++i) {
    quotients.push_back(1 + 0.01 * (i - 19.5) / 19.5 * 5); // evenly from 0.95 to 1.05
  }
  EXPECT_EQ(judge(ratio_of(quotients, 0.99, Stopping::sequential), 0.02), Verdict::unclear);
  const auto needed = quotients_to_decide(quotients, 0.99, 0.02);
  ASSERT_TRUE(needed);
  EXPECT_GT(*needed, 40);
  // Then the interval holds four tenths of them, 30 % to 70 %: so many are left out.
  EXPECT_NEAR(static_cast<double>(sequential_rank(*needed, alpha)) / static_cast<double>(*needed),
              0.3, 0.02);
  EXPECT_FALSE(quotients_to_decide(quotients, 0.99, 0.02, *needed - 1));
}

TEST(QuotientsToDecide, SaysThatNothingWould) {
  const std::vector<double> at_the_margin{1.01, 1.02, 1.03};
  EXPECT_FALSE(quotients_to_decide(at_the_margin, 0.99, 0.0199999, 50));
  const auto far = quotients_to_decide({2.0, 2.1, 1.9}, 0.99, 0.02);
  ASSERT_TRUE(far);
  EXPECT_EQ(*far, 10); // the first number that can decide
}

} // namespace
} // namespace diffbench::bench
