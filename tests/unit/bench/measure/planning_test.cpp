// SPDX-License-Identifier: Apache-2.0
#include "planning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace diffbench::bench {
namespace {

constexpr std::int64_t all_steps = 1000;

double planned_seconds(const RowCost& cost, const SamplePlan& plan) {
  return plan.rounds *
         (cost.reset_seconds + cost.step_seconds * static_cast<double>(plan.iterations));
}

TEST(PlanSamples, AFastRowRunsAllStepsInEveryRound) {
  const SamplePlan plan = plan_samples({.reset_seconds = 1e-4, .step_seconds = 1e-6}, 2, all_steps);
  EXPECT_EQ(plan, (SamplePlan{.rounds = rounds_wanted, .iterations = all_steps}));
}

TEST(PlanSamples, ASlowerRowRunsFewerSteps) {
  const SamplePlan plan = plan_samples({.reset_seconds = 0, .step_seconds = 1e-3}, 10, all_steps);
  EXPECT_EQ(plan, (SamplePlan{.rounds = rounds_wanted, .iterations = 500}));
}

TEST(PlanSamples, FewerRoundsRatherThanShortSamples) {
  // 20 rounds would leave 50 steps a sample, 10 leave 100.
  const SamplePlan plan = plan_samples({.reset_seconds = 0, .step_seconds = 1e-3}, 1, all_steps);
  EXPECT_EQ(plan, (SamplePlan{.rounds = rounds_wanted / 2, .iterations = 100}));
}

TEST(PlanSamples, ResetsAreInTheBudget) {
  const RowCost cost{.reset_seconds = 0.1, .step_seconds = 5e-3};
  const SamplePlan plan = plan_samples(cost, 2, 100);
  EXPECT_EQ(plan, (SamplePlan{.rounds = rounds_few, .iterations = 60}));
  EXPECT_LE(planned_seconds(cost, plan), 2.0001);
}

TEST(PlanSamples, DearResetsLeaveFewerSamplesNotShortOnes) {
  const SamplePlan plan = plan_samples({.reset_seconds = 2.5, .step_seconds = 0.02}, 10, 100);
  EXPECT_EQ(plan, (SamplePlan{.rounds = 2, .iterations = 100}));
  // The budget would hold five samples of one step.
  EXPECT_EQ(plan_samples({.reset_seconds = 0.5, .step_seconds = 0.01}, 2.56, all_steps),
            (SamplePlan{.rounds = 2, .iterations = 78}));
}

TEST(PlanSamples, SamplesHoldWholePeriods) {
  const SamplePlan plan{.rounds = 5, .iterations = 750};
  EXPECT_EQ(in_whole_periods(plan, 0, all_steps), plan);
  EXPECT_EQ(in_whole_periods(plan, 1, all_steps), plan);
  EXPECT_EQ(in_whole_periods(plan, 100, all_steps).iterations, 700);
  EXPECT_EQ(in_whole_periods({.rounds = 5, .iterations = 50}, 100, all_steps).iterations, 100);
  EXPECT_EQ(in_whole_periods({.rounds = 5, .iterations = 50}, 100, 60).iterations, 60);
}

TEST(PlanSamples, SamplesHoldWholeSweeps) {
  // Five samples of 4 steps would fit; one sweep does.
  const RowCost slow{.reset_seconds = 0.2, .step_seconds = 0.031};
  const SamplePlan one = plan_samples(slow, 1.6, 100, 32);
  EXPECT_EQ(one, (SamplePlan{.rounds = 1, .iterations = 32, .unit = 32}));
  EXPECT_FALSE(cuts_a_sweep(one, 100, 32));
  EXPECT_EQ(plan_samples(slow, 4, 100, 32),
            (SamplePlan{.rounds = 3, .iterations = 32, .unit = 32}));
  EXPECT_EQ(plan_samples(slow, 12, 100, 32),
            (SamplePlan{.rounds = 5, .iterations = 64, .unit = 32}));
  EXPECT_EQ(plan_samples(slow, 40, 100, 32),
            (SamplePlan{.rounds = 10, .iterations = 100, .unit = 32}));
  // As many as without sweeps, where they are enough.
  EXPECT_EQ(plan_samples({.reset_seconds = 0, .step_seconds = 1e-3}, 10, all_steps, 48),
            (SamplePlan{.rounds = rounds_wanted, .iterations = 480, .unit = 48}));
  EXPECT_EQ(plan_samples({.reset_seconds = 0, .step_seconds = 1e-3}, 2, all_steps, 48),
            (SamplePlan{.rounds = rounds_wanted, .iterations = 96, .unit = 48}));
  // A run that is shorter than a sweep is one.
  EXPECT_EQ(plan_samples(slow, 12, 20, 32).iterations, 20);
}

TEST(PlanSamples, ASweepThatDoesNotFitIsCutOpenly) {
  const SamplePlan cut = plan_samples({.reset_seconds = 0.2, .step_seconds = 0.1}, 1.6, 100, 32);
  EXPECT_EQ(cut, (SamplePlan{.rounds = 1, .iterations = 14, .unit = 32}));
  EXPECT_TRUE(cuts_a_sweep(cut, 100, 32));
  EXPECT_FALSE(cuts_a_sweep(cut, 14, 32));
}

TEST(PlanSamples, ARowBeyondTheBudgetGetsOneSampleOfOneStep) {
  const SamplePlan plan = plan_samples({.reset_seconds = 1, .step_seconds = 100}, 2, all_steps);
  EXPECT_EQ(plan, (SamplePlan{.rounds = 1, .iterations = 1}));
}

TEST(PlanSamples, OddCostsStillGiveAPlan) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const RowCost& cost :
       {RowCost{0, 0}, RowCost{-1, -1}, RowCost{nan, nan}, RowCost{0, infinity}, RowCost{0, nan}}) {
    const SamplePlan plan = plan_samples(cost, 2, all_steps);
    EXPECT_GE(plan.rounds, 1);
    EXPECT_LE(plan.rounds, rounds_wanted);
    EXPECT_GE(plan.iterations, 1);
    EXPECT_LE(plan.iterations, all_steps);
  }
}

TEST(PlanSamples, NeverMoreThanTheBudgetUnlessOneSampleIs) {
  for (double step = 1e-7; step < 100; step *= 3) {
    for (double reset = 1e-6; reset < 10; reset *= 7) {
      const RowCost cost{.reset_seconds = reset, .step_seconds = step};
      const SamplePlan plan = plan_samples(cost, 2, all_steps);
      const bool within = planned_seconds(cost, plan) <= 2.0001;
      EXPECT_TRUE(within || plan == (SamplePlan{.rounds = 1, .iterations = 1}))
          << "step " << step << " reset " << reset;
    }
  }
}

TEST(RunsOfMedian, ShortRunsAreMadeOftener) {
  EXPECT_EQ(cold_runs_of_median(1), 3);
  EXPECT_EQ(cold_runs_of_median(0.01), 5);
  EXPECT_EQ(cold_runs_of_median(0.001), 25);
  EXPECT_EQ(cold_runs_of_median(0), 25);
  EXPECT_EQ(runs_of_median(0.001, 3, 301), 50);
  EXPECT_EQ(runs_of_median(std::numeric_limits<double>::quiet_NaN(), 3, 301), 3);
}

TEST(AffordableSteps, AllWhenTheyFit) {
  EXPECT_EQ(affordable_steps(1000, 1e-3, 5), 1000);
  EXPECT_EQ(affordable_steps(1234, 1e-6, 5), 1234);
}

TEST(AffordableSteps, RoundNumbersOtherwise) {
  EXPECT_EQ(affordable_steps(1000, 1e-2, 5), 500);
  EXPECT_EQ(affordable_steps(1000, 1.2e-2, 5), 200);
  EXPECT_EQ(affordable_steps(1000, 3e-2, 5), 100);
  EXPECT_EQ(affordable_steps(1000, 0.6, 5), 5);
  EXPECT_EQ(affordable_steps(1000, 2.4, 5), 2);
  EXPECT_EQ(affordable_steps(1000, 100, 5), 1);
}

TEST(NextRoundNumber, IsOneThatRowsMake) {
  EXPECT_EQ(next_round_number(0), 1);
  EXPECT_EQ(next_round_number(1), 2);
  EXPECT_EQ(next_round_number(2), 5);
  EXPECT_EQ(next_round_number(499), 500);
  EXPECT_EQ(next_round_number(500), 1000);
}

TEST(TimeTable, WithoutABudgetAskedForVerificationHasItsUsualTime) {
  const TimeTable table(10, false);
  EXPECT_EQ(table.reference(), 10);
  EXPECT_EQ(table.first_runs(30, 5).longest, 5);
  EXPECT_EQ(table.first_runs(30, 5).all, 2);
  EXPECT_EQ(table.rounds(30, false).planned, 10);
  EXPECT_EQ(table.rounds(30, false).limit, 20);
  EXPECT_EQ(table.rounds(30, true).limit, 10);
  EXPECT_EQ(table.warm_runs(30, 5), 2);
}

/// Every part takes all that it may; rows make their longest run, and later their warm runs.
double spent_by_all(const TimeTable& table, std::int64_t rows) {
  double spent = table.reference();
  for (std::int64_t left = rows; left > 0; --left) {
    const TimeTable::FirstRuns runs = table.first_runs(spent, left);
    spent += std::max(runs.longest, runs.all);
  }
  spent += table.rounds(spent, false).limit;
  for (std::int64_t left = rows; left > 0; --left) {
    spent += table.warm_runs(spent, left);
  }
  return spent;
}

TEST(TimeTable, ABudgetAskedForIsAllThatTheUserWaits) {
  for (const double budget : {10.0, 60.0}) {
    for (const std::int64_t rows : {1, 6, 14}) {
      EXPECT_LE(spent_by_all(TimeTable(budget, true), rows), 1.1 * budget)
          << budget << " s, " << rows << " rows";
    }
  }
  // A tiny one leaves each row enough to be verified at all.
  EXPECT_LE(spent_by_all(TimeTable(0.1, true), 6), 0.5 * 7 + 0.1);
}

TEST(TimeTable, ARowBeyondTheBudgetTakesNothingFromTheOthers) {
  const TimeTable table(10, true);
  EXPECT_GE(table.first_runs(20, 3).longest, 0.5);
  EXPECT_EQ(table.first_runs(20, 3).all, 0);
  EXPECT_EQ(table.rounds(20, false).limit, 0);
  EXPECT_EQ(table.warm_runs(20, 3), 0);
}

TEST(ExpectedSeconds, IsTheBudgetWhereThatIsSmaller) {
  EXPECT_LT(expected_seconds(10, true, 6, 24 * 16, 20), 1);
  EXPECT_EQ(expected_seconds(10, true, 6, 4096.0 * 4096, 1000), 10);
  EXPECT_GT(expected_seconds(10, false, 6, 4096.0 * 4096, 1000), 60);
}

TEST(AffordableSteps, NotNumbers) {
  EXPECT_EQ(affordable_steps(1000, std::nan(""), 5), 1);
  EXPECT_EQ(affordable_steps(1000, 1e-3, std::nan("")), 1);
}

} // namespace
} // namespace diffbench::bench
