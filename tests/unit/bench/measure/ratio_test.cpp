// SPDX-License-Identifier: Apache-2.0
#include "ratio.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

/// Times of two rows with one machine under both: it drifts by a third and has bursts of load.
struct TwoRows {
  std::vector<double> first, second;
};

TwoRows measured(std::mt19937& random, double true_ratio, std::size_t rounds = 20) {
  std::normal_distribution<double> noise(0, 0.02);
  std::uniform_real_distribution<double> uniform;
  TwoRows rows;
  for (std::size_t i = 0; i < rounds; ++i) {
    const double machine = 1 + 0.3 * static_cast<double>(i) / static_cast<double>(rounds);
    auto sample = [&] {
      const double burst = uniform(random) < 0.1 ? 1 + uniform(random) : 1;
      return machine * burst * std::exp(noise(random));
    };
    rows.first.push_back(sample());
    rows.second.push_back(true_ratio * sample());
  }
  return rows;
}

/// In how many of 1000 pairs of rows the verdict is `wanted`.
int verdicts(Verdict wanted, double true_ratio, std::size_t rounds = 20) {
  std::mt19937 random(1);
  int count = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const TwoRows rows = measured(random, true_ratio, rounds);
    count += judge(paired_ratio(rows.second, rows.first), least_effect_in_run) == wanted ? 1 : 0;
  }
  return count;
}

TEST(PairedRatio, EqualRowsGetNoVerdict) {
  for (const std::size_t rounds : {8U, 20U, 100U}) {
    EXPECT_LE(verdicts(Verdict::faster, 1, rounds) + verdicts(Verdict::slower, 1, rounds), 10);
  }
}

TEST(RatioApart, EqualRowsGetNoVerdict) {
  std::mt19937 random(5);
  for (const std::size_t samples : {5U, 8U, 20U}) {
    int wrong = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      std::lognormal_distribution<double> noise(0, 0.1);
      std::vector<double> first(samples), second(samples);
      std::ranges::generate(first, [&] { return noise(random); });
      std::ranges::generate(second, [&] { return noise(random); });
      wrong += judge(ratio_apart(first, second), 0) != Verdict::unclear ? 1 : 0;
    }
    EXPECT_LE(wrong, 20) << samples;
  }
}

TEST(RatioApart, HasAnIntervalWhereThereAreEnoughSamples) {
  const auto of = [](int ours, int theirs) {
    std::vector<double> first, second;
    for (int i = 0; i < ours; ++i) {
      first.push_back(2 + 0.001 * i);
    }
    for (int i = 0; i < theirs; ++i) {
      second.push_back(1 + 0.001 * i);
    }
    return ratio_apart(first, second);
  };
  for (const auto& [ours, theirs] : {std::pair{5, 5}, {4, 6}, {3, 12}, {9, 9}, {20, 5}, {40, 20}}) {
    const Ratio ratio = of(ours, theirs);
    ASSERT_TRUE(ratio.interval) << ours << ' ' << theirs;
    EXPECT_GE(ratio.interval->confidence, 0.99);
    EXPECT_EQ(judge(ratio, least_effect_in_run), Verdict::slower);
  }
  for (const auto& [ours, theirs] : {std::pair{1, 1}, {4, 4}, {2, 9}, {1, 100}}) {
    EXPECT_FALSE(of(ours, theirs).interval) << ours << ' ' << theirs;
  }
}

TEST(RatioInRun, TakesRoundsWhereThereAreEnough) {
  std::vector<Sample> ours, theirs;
  for (int round = 0; round < 8; ++round) { // a machine that slows down
    const double machine = 1 + round;
    theirs.push_back({.iterations = 1, .seconds = machine, .cpu_seconds = {}, .round = round});
    ours.push_back({.iterations = 1, .seconds = 1.1 * machine, .cpu_seconds = {}, .round = round});
  }
  EXPECT_EQ(judge(ratio_in_run(ours, theirs), least_effect_in_run), Verdict::slower);
  ours.pop_back();
  EXPECT_EQ(judge(ratio_in_run(ours, theirs), least_effect_in_run), Verdict::unclear);
}

TEST(PairedRatio, PlantedDifferencesAreFound) {
  EXPECT_GE(verdicts(Verdict::slower, 1.1), 850);
  EXPECT_GE(verdicts(Verdict::faster, 1 / 1.1), 850);
  EXPECT_GE(verdicts(Verdict::slower, 1.05, 100), 950);
  EXPECT_GE(verdicts(Verdict::faster, 1 / 1.05, 100), 950);
}

TEST(PairedRatio, CoversTheTruthAsOftenAsItSays) {
  std::mt19937 random(2);
  int covered = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const TwoRows rows = measured(random, 1.5);
    const Ratio ratio = paired_ratio(rows.second, rows.first);
    covered += ratio.interval->low <= 1.5 && 1.5 <= ratio.interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, 980);
  EXPECT_LE(covered, 998); // wider than need be would be no better
}

TEST(PairedRatio, DriftOfTheMachineCancels) {
  const std::vector<double> reference{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> seconds;
  for (const double value : reference) {
    seconds.push_back(1.25 * value);
  }
  const Ratio ratio = paired_ratio(seconds, reference);
  EXPECT_NEAR(ratio.value, 1.25, 1e-12);
  EXPECT_NEAR(ratio.interval->low, 1.25, 1e-12);
  EXPECT_NEAR(ratio.interval->high, 1.25, 1e-12);
}

TEST(PairedRatio, BearsThreeDisturbedRoundsOfTwentyToEachSide) {
  std::vector<double> seconds(20, 1.1);
  for (const int disturbed : {2, 11, 15}) {
    seconds[static_cast<std::size_t>(disturbed)] = 9;
    seconds[static_cast<std::size_t>(disturbed + 1)] = 0.1;
  }
  const Ratio ratio = paired_ratio(seconds, std::vector<double>(20, 1.0));
  EXPECT_NEAR(ratio.value, 1.1, 1e-12);
  EXPECT_NEAR(ratio.interval->low, 1.1, 1e-12);
  EXPECT_NEAR(ratio.interval->high, 1.1, 1e-12);
}

TEST(PairedRatio, OfFewPairsHasNoIntervalAndNoVerdict) {
  const std::vector<double> slow(7, 2.0);
  const std::vector<double> fast(7, 1.0);
  const Ratio ratio = paired_ratio(slow, fast);
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  EXPECT_FALSE(ratio.interval);
  EXPECT_EQ(judge(ratio, 0), Verdict::unclear);
}

TEST(PairedRatio, PairsAreSamplesOfOneRound) {
  auto sample = [](int round, double seconds) {
    return Sample{.iterations = 2, .seconds = seconds, .cpu_seconds = {}, .round = round};
  };
  const std::vector<Sample> all{sample(0, 1), sample(1, 8), sample(2, 2), sample(3, 8)};
  const std::vector<Sample> some{sample(1, 4), sample(3, 4), sample(5, 100)};
  EXPECT_NEAR(paired_ratio(all, some)->value, 2, 1e-12);
  EXPECT_NEAR(paired_ratio(some, all)->value, 0.5, 1e-12);
  EXPECT_FALSE(paired_ratio(std::span(all).first(1), some));
  EXPECT_FALSE(paired_ratio({}, some));
}

TEST(PairedRatio, BesideOthersHoldsForAllThatTheIdleMachineMayNeed) {
  std::vector<Sample> slow(5, {.iterations = 1, .seconds = 2, .cpu_seconds = {}, .slack = 0.1});
  std::vector<Sample> fast(5, {.iterations = 1, .seconds = 1, .cpu_seconds = {}, .slack = 0.1});
  const Ratio ratio = paired_ratio(slow, fast).value();
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.interval.value().low, 2 / 1.1 / 1.1);
  EXPECT_DOUBLE_EQ(ratio.interval.value().high, 2 * 1.1 * 1.1);
  EXPECT_EQ(judge(ratio, 0.02), Verdict::slower);
  EXPECT_DOUBLE_EQ(ratio_apart(slow, fast).interval.value().low, ratio.interval->low);
  for (Sample& sample : slow) {
    sample.stolen_seconds = 1;
  }
  EXPECT_EQ(judge(ratio_in_run(slow, fast), 0.02), Verdict::unclear) << "all of it may be stolen";
  slow.resize(2);
  EXPECT_FALSE(paired_ratio(slow, fast).value().interval);
}

TEST(Judge, TheWholeIntervalMustBeBeyondTheLeastEffect) {
  auto verdict = [](double low, double high) {
    return judge({.value = 1, .interval = Interval{low, high, 0.99}}, 0.02);
  };
  EXPECT_EQ(verdict(1.03, 1.2), Verdict::slower);
  EXPECT_EQ(verdict(1.01, 1.2), Verdict::unclear);
  EXPECT_EQ(verdict(0.9, 1.2), Verdict::unclear);
  EXPECT_EQ(verdict(0.8, 0.99), Verdict::unclear);
  EXPECT_EQ(verdict(0.8, 0.97), Verdict::faster);
  EXPECT_EQ(verdict(0.99, 1.01), Verdict::same);
  EXPECT_EQ(verdict(0.97, 1.01), Verdict::unclear);
  EXPECT_EQ(verdict(NAN, NAN), Verdict::unclear);
}

} // namespace
} // namespace diffbench::bench
