// The timing core on a fake clock: what is inside the time, and what happens when a step throws.
#include "timing.hpp"

#include "fake_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;

double sum_of_phases(const Phases& phases) {
  double sum = phases.unexplained;
  for (const NamedPhase& phase : named_phases) {
    sum += (phases.*phase.member).value_or(0);
  }
  return sum;
}

FakeDevice slow_device() {
  return {.make_seconds = 100,
          .upload_seconds = 10,
          .step_seconds = 1,
          .wait_seconds = 0.5,
          .download_seconds = 20,
          .throws_at = {},
          .calls_before_throw = 0,
          .alive = 0,
          .log = {}};
}

class TimingTest : public testing::Test {
 protected:
  std::unique_ptr<Session<float>> session() { return std::make_unique<FakeSession>(device_); }

  FakeDevice device_ = slow_device();
  std::vector<float> field_ = std::vector<float>(6, 1.0F);
};

TEST_F(TimingTest, ASampleHoldsTheStepsAndTheWaitButNotTheUpload) {
  auto fake = session();
  device_.log.clear();
  const Sample sample = time_steps<FakeClock>(*fake, std::span<const float>(field_), 7);
  EXPECT_DOUBLE_EQ(sample.seconds, 7 * 1 + 0.5);
  EXPECT_EQ(sample.iterations, 7);
  EXPECT_DOUBLE_EQ(sample.seconds_per_iteration(), 7.5 / 7);
  EXPECT_THAT(device_.log, ElementsAre("upload", "wait", "advance", "wait"));
}

TEST_F(TimingTest, TheWarmRunHasPhasesThatAddUp) {
  auto fake = session();
  const Phases phases = time_end_to_end<FakeClock>(*fake, std::span<float>(field_), 3);
  EXPECT_FALSE(phases.alloc);
  EXPECT_DOUBLE_EQ(*phases.h2d, 10);
  EXPECT_DOUBLE_EQ(*phases.compute, 3);
  EXPECT_DOUBLE_EQ(*phases.sync, 0.5);
  EXPECT_DOUBLE_EQ(*phases.d2h, 20);
  EXPECT_DOUBLE_EQ(phases.wall, 33.5);
  EXPECT_DOUBLE_EQ(sum_of_phases(phases), phases.wall);
}

TEST_F(TimingTest, WhatLiesBetweenPhasesIsUnexplained) {
  PhaseTimer<FakeClock> timer;
  timer.time(&Phases::h2d, [] { FakeClock::seconds += 2; });
  FakeClock::seconds += 3;
  timer.time(&Phases::h2d, [] { FakeClock::seconds += 4; });
  const Phases phases = timer.finish();
  EXPECT_DOUBLE_EQ(*phases.h2d, 6);
  EXPECT_DOUBLE_EQ(phases.unexplained, 3);
  EXPECT_DOUBLE_EQ(phases.wall, 9);
}

TEST_F(TimingTest, TheFirstRunMakesAllStepsWhenTheyFit) {
  std::unique_ptr<Session<float>> made;
  const FirstRun run =
      time_first_run<FakeClock>([&] { return session(); }, made, std::span<float>(field_), 50, 1e6);
  EXPECT_EQ(run.steps, 50);
  EXPECT_DOUBLE_EQ(run.setup_seconds, 110);
  EXPECT_DOUBLE_EQ(*run.phases.alloc, 100);
  EXPECT_DOUBLE_EQ(*run.phases.compute, 50);
  EXPECT_DOUBLE_EQ(sum_of_phases(run.phases), run.phases.wall);
  EXPECT_NE(made, nullptr);
}

TEST_F(TimingTest, TheFirstRunIsCutShortByItsLimit) {
  std::unique_ptr<Session<float>> made;
  device_.wait_seconds = 0;
  const FirstRun run = time_first_run<FakeClock>([&] { return session(); }, made,
                                                 std::span<float>(field_), 1000, 30);
  EXPECT_EQ(run.steps, 20);
  EXPECT_DOUBLE_EQ(run.cost.step_seconds, 1);
}

TEST_F(TimingTest, TheFirstRunOfOneStepMakesOne) {
  std::unique_ptr<Session<float>> made;
  const FirstRun run =
      time_first_run<FakeClock>([&] { return session(); }, made, std::span<float>(field_), 1, 30);
  EXPECT_EQ(run.steps, 1);
  EXPECT_DOUBLE_EQ(run.cost.step_seconds, 1.5);
}

class ThrowingTest : public TimingTest, public testing::WithParamInterface<const char*> {};

// Whatever throws, the error arrives, and nothing is left alive once the owner is gone.
TEST_P(ThrowingTest, NothingLeaks) {
  device_.throws_at = GetParam();
  {
    std::unique_ptr<Session<float>> made;
    EXPECT_THROW(time_first_run<FakeClock>([&] { return session(); }, made,
                                           std::span<float>(field_), 10, 100),
                 std::runtime_error);
  }
  EXPECT_EQ(device_.alive, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, ThrowingTest,
                         testing::Values("make", "upload", "advance", "wait", "download"));

} // namespace
} // namespace diffbench::bench
