// SPDX-License-Identifier: Apache-2.0
#include "copy_rounds.hpp"

#include "fake_clock.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace diffbench::bench {
namespace {

/// Copies that take what they are told, on a clock that nothing else moves.
struct FakeCopies {
  double copy_seconds = 0;
  double sample_seconds = 0; ///< what a sample costs besides
  int disturbed = -1;        ///< the sample that takes a second more
  int fails_from = -1;
  int samples = 0;

  Sample sample(std::int64_t copies) {
    if (fails_from >= 0 && samples >= fails_from) {
      throw std::runtime_error("copy failed");
    }
    const double seconds = sample_seconds + static_cast<double>(copies) * copy_seconds +
                           (samples++ == disturbed ? 1 : 0);
    FakeClock::seconds += seconds;
    return {.iterations = copies, .seconds = seconds, .cpu_seconds = std::nullopt};
  }
};

using Copier = Contender<TimedRow, FakeCopies>;

Copier copier(FakeCopies copies) {
  return {.row = {}, .timed = std::make_unique<FakeCopies>(copies)};
}

const auto never = [] { return false; };

TEST(PlanCopiesTest, FillsTheTimeOfARow) {
  EXPECT_EQ(plan_copies(1e-6, 0.07), (SamplePlan{.rounds = 7, .iterations = 10000}));
  EXPECT_EQ(plan_copies(0.02, 0.1), (SamplePlan{.rounds = 5, .iterations = 1}));
  EXPECT_EQ(plan_copies(10, 0.1), (SamplePlan{.rounds = 3, .iterations = 1}));
  EXPECT_GT(plan_copies(0, 0.1).iterations, 1000) << "below the clock's resolution";
}

TEST(EstimateCopySecondsTest, WhatASampleCostsBesidesIsSmall) {
  FakeCopies copies{.copy_seconds = 5e-9, .sample_seconds = 50e-6};
  EXPECT_NEAR(estimate_copy_seconds(copies, 1), 5e-9, 1e-9);
}

TEST(EstimateCopySecondsTest, ADisturbedSampleIsNotBelieved) {
  for (int disturbed = 0; disturbed < 6; ++disturbed) {
    FakeCopies copies{.copy_seconds = 1e-6, .disturbed = disturbed};
    EXPECT_NEAR(estimate_copy_seconds(copies, 1), 1e-6, 1e-9) << disturbed;
  }
}

TEST(EstimateCopySecondsTest, EndsWithAClockThatStandsStill) {
  FakeCopies copies;
  EXPECT_EQ(estimate_copy_seconds(copies, 1), 0);
}

TEST(SampleCopiesTest, EveryRowGetsItsSamples) {
  std::vector<Copier> copiers;
  copiers.push_back(copier({.copy_seconds = 1e-6}));
  copiers.push_back(copier({.copy_seconds = 100}));
  sample_copies<FakeClock>(std::span(copiers), 0.07, never);
  ASSERT_EQ(copiers[0].row.samples.size(), 7U);
  EXPECT_NEAR(static_cast<double>(copiers[0].row.samples[0].iterations), 10000, 10);
  EXPECT_EQ(copiers[1].row.samples.size(), 3U) << "however long they take";
}

TEST(SampleCopiesTest, ARowThatThrowsLosesItself) {
  for (int fails_from = 0; fails_from < 10; ++fails_from) {
    std::vector<Copier> copiers;
    copiers.push_back(copier({.copy_seconds = 0.001, .fails_from = fails_from}));
    copiers.push_back(copier({.copy_seconds = 0.001}));
    sample_copies<FakeClock>(std::span(copiers), 0.07, never);
    EXPECT_EQ(copiers[1].row.samples.size(), 7U);
    EXPECT_EQ(copiers[0].row.reason, fails_from < 9 ? "copy failed" : "") << fails_from;
  }
}

TEST(SampleCopiesTest, StopsWhenAskedTo) {
  for (int calls = 0; calls < 5; ++calls) {
    std::vector<Copier> copiers;
    copiers.push_back(copier({.copy_seconds = 1e-3}));
    int left = calls;
    sample_copies<FakeClock>(std::span(copiers), 0.07, [&] { return left-- == 0; });
    EXPECT_EQ(copiers[0].row.samples.size(), static_cast<std::size_t>(std::max(0, calls - 1)));
    EXPECT_EQ(copiers[0].row.reason, "");
  }
}

TEST(CopyDeadline, LeavesOutWhatWouldTakeLonger) {
  FakeClock::seconds = 0;
  CopyDeadline<FakeClock> deadline(10, 1);
  EXPECT_TRUE(deadline.allows(1 << 20));
  FakeClock::seconds += 1; // its share, as the next will take
  EXPECT_TRUE(deadline.allows(4 << 20));
  FakeClock::seconds += 2.5; // more than that: so few copies take as long as they are large
  EXPECT_FALSE(deadline.allows(16 << 20));
  FakeClock::seconds += 7; // nothing is left
  EXPECT_FALSE(deadline.allows(1024));
}

TEST(CopyDeadline, HasAlwaysTimeForFewSmallCopies) {
  FakeClock::seconds = 0;
  CopyDeadline<FakeClock> deadline(10, 1);
  EXPECT_EQ(deadline.seconds_for(1024), 1);
  FakeClock::seconds += 20; // others had the CPUs
  const double few = deadline.seconds_for(4096);
  EXPECT_GT(few, 0);
  EXPECT_LT(few, 0.1);
  EXPECT_EQ(deadline.seconds_for(1 << 20), 0);
}

TEST(CopyDeadline, IsNotThereWithoutALimit) {
  FakeClock::seconds = 0;
  CopyDeadline<FakeClock> deadline(CopyTime{.planned = 1}.limit, 1);
  EXPECT_TRUE(deadline.allows(1024));
  FakeClock::seconds += 1e9;
  EXPECT_TRUE(deadline.allows(std::int64_t{1} << 40));
}

} // namespace
} // namespace diffbench::bench
