// SPDX-License-Identifier: Apache-2.0
#include "compare/run_ratio.hpp"

#include "standing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace diffbench::bench {
namespace {

std::vector<double> steady(double seconds, int samples = 20) {
  std::vector<double> result;
  for (int i = 0; i < samples; ++i) {
    result.push_back(seconds * (1 + 0.001 * (i % 3 - 1)));
  }
  return result;
}

Standing of(const Ratio& ratio) { return standing_of(ratio, {.margin = least_effect_in_run}); }

Standing one(std::vector<double> old_seconds, std::vector<double> new_seconds,
             double cpu_share = 1) {
  const std::vector<RowInTwoRuns> rows{{.old_seconds = std::move(old_seconds),
                                        .new_seconds = std::move(new_seconds),
                                        .cpu_share = cpu_share}};
  return of(run_ratios(rows).front());
}

TEST(RunRatios, SteadyRunsNeedMoreThanWhatRunsDifferBy) {
  EXPECT_EQ(one(steady(1), steady(1)).verdict, Verdict::unclear);
  EXPECT_EQ(one(steady(1), steady(1.06)).verdict, Verdict::unclear);
  EXPECT_EQ(one(steady(1), steady(1.1)).verdict, Verdict::slower);
  EXPECT_EQ(one(steady(1.1), steady(1)).verdict, Verdict::faster);
  EXPECT_NEAR(one(steady(1), steady(1.1)).ratio.value, 1.1, 1e-9);
}

TEST(RunRatios, TheSpreadOfRunsIsTheCallersToSay) {
  const std::vector<RowInTwoRuns> rows{{.old_seconds = steady(1), .new_seconds = steady(1.06)}};
  EXPECT_EQ(of(run_ratios(rows, 0.005).front()).verdict, Verdict::slower);
  EXPECT_EQ(of(run_ratios(rows, 0.05).front()).verdict, Verdict::unclear);
}

TEST(RunRatios, MoreSamplesOfTheSameTwoRunsAreNoMoreCertainty) {
  EXPECT_EQ(one(steady(1, 5000), steady(1.06, 5000)).verdict, Verdict::unclear);
}

TEST(RunRatios, ARunThatDriftsIsNotTrusted) {
  std::vector<double> drifting;
  for (int i = 0; i < 20; ++i) {
    drifting.push_back(1 + 0.01 * i);
  }
  EXPECT_EQ(one(steady(1), drifting).verdict, Verdict::unclear);
  EXPECT_EQ(one(steady(1), steady(1.1)).verdict, Verdict::slower); // the same, but for the drift
}

TEST(RunRatios, WhatOtherProgramsTookMayBeTheDifference) {
  EXPECT_EQ(one(steady(1), steady(1.5), 0.7).verdict, Verdict::unclear);
  EXPECT_EQ(one(steady(1), steady(3), 0.7).verdict, Verdict::slower);
  EXPECT_EQ(one(steady(1), steady(3), 0).verdict, Verdict::unclear);
}

TEST(RunRatios, WhatAllRowsDoIsTheMachine) {
  auto verdicts = [](double own, double others) {
    std::vector<RowInTwoRuns> rows(
        4, {.old_seconds = steady(1), .new_seconds = steady(others), .cpu_share = 1});
    rows[0].new_seconds = steady(own);
    return of(run_ratios(rows)[0]).verdict;
  };
  EXPECT_EQ(verdicts(1.2, 1.0), Verdict::slower);
  EXPECT_EQ(verdicts(1.2, 1.2), Verdict::unclear);
  EXPECT_EQ(verdicts(2.0, 1.05), Verdict::slower);
}

TEST(RunRatios, FewSamplesHaveNoInterval) {
  for (const int samples : {1, 2}) {
    const Standing ratio = one(steady(1, samples), steady(5));
    EXPECT_FALSE(ratio.ratio.interval);
    EXPECT_EQ(ratio.verdict, Verdict::unclear);
    EXPECT_FALSE(one(steady(5), steady(1, samples)).ratio.interval);
  }
  EXPECT_EQ(one(steady(1, 3), steady(5, 3)).verdict, Verdict::slower);
}

// Runs of the same program: each has a level of its own, a random walk, and bursts.
TEST(RunRatios, RunsOfTheSameProgramGetNoVerdict) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  auto run = [&] {
    double level = 0.02 * normal(random);
    std::vector<double> seconds;
    for (int i = 0; i < 20; ++i) {
      level += 0.01 * normal(random);
      seconds.push_back(std::exp(level + (uniform(random) < 0.1 ? uniform(random) : 0)));
    }
    return seconds;
  };
  int wrong = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    wrong += one(run(), run()).verdict == Verdict::unclear ? 0 : 1;
  }
  EXPECT_LE(wrong, 20);
}

} // namespace
} // namespace diffbench::bench
