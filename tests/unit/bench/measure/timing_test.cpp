// SPDX-License-Identifier: Apache-2.0
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
  FakeDevice device;
  device.make_seconds = 100;
  device.upload_seconds = 10;
  device.step_seconds = 1;
  device.wait_seconds = 0.5;
  device.download_seconds = 20;
  return device;
}

class TimingTest : public testing::Test {
 protected:
  TimingTest() { FakeClock::seconds = 0; } // other tests leave it where sums are rounded

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
  timer.time(&Phases::h2d, "upload", [] { FakeClock::seconds += 2; });
  FakeClock::seconds += 3;
  timer.time(&Phases::h2d, "upload", [] { FakeClock::seconds += 4; });
  timer.leave_out([] { FakeClock::seconds += 8; });
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

/// A session that knows its phases, as those on a GPU do.
class AccountTest : public TimingTest {
 protected:
  AccountTest() {
    device_.keeps_account = true;
    device_.has_host_buffer = true;
  }
};

TEST_F(AccountTest, TheWarmRunHasTheSessionsPhases) {
  auto fake = session();
  fake->upload(field_); // of an earlier run: not in the account of this one
  const Phases phases = time_end_to_end<FakeClock>(*fake, std::span<float>(field_), 3);
  EXPECT_FALSE(phases.context);
  EXPECT_FALSE(phases.alloc);
  EXPECT_FALSE(phases.pin);
  EXPECT_DOUBLE_EQ(*phases.h2d, 10);
  EXPECT_DOUBLE_EQ(*phases.launch, 3);
  EXPECT_DOUBLE_EQ(*phases.compute, 0.25);
  EXPECT_DOUBLE_EQ(*phases.sync, 0.25);
  EXPECT_DOUBLE_EQ(*phases.d2h, 20);
  EXPECT_DOUBLE_EQ(phases.wall, 33.5);
  EXPECT_DOUBLE_EQ(sum_of_phases(phases), phases.wall);
  ASSERT_TRUE(phases.busy);
  EXPECT_DOUBLE_EQ(phases.busy->h2d, 5);
  EXPECT_DOUBLE_EQ(phases.busy->compute, 3);
  EXPECT_DOUBLE_EQ(phases.busy->d2h, 10);
}

TEST_F(AccountTest, TheColdRunShowsWhatMakingTheSessionLeavesUnexplained) {
  std::unique_ptr<Session<float>> made;
  const FirstRun run =
      time_first_run<FakeClock>([&] { return session(); }, made, std::span<float>(field_), 50, 1e6);
  EXPECT_DOUBLE_EQ(*run.phases.context, 50);
  EXPECT_DOUBLE_EQ(*run.phases.alloc, 12.5);
  EXPECT_DOUBLE_EQ(*run.phases.pin, 25);
  EXPECT_DOUBLE_EQ(run.phases.unexplained, 12.5);
  EXPECT_DOUBLE_EQ(sum_of_phases(run.phases), run.phases.wall);
  EXPECT_DOUBLE_EQ(run.setup_seconds, 110);
  EXPECT_DOUBLE_EQ(run.cost.reset_seconds, 10);
}

TEST_F(AccountTest, CopiesUseTheSessionsOwnMemory) {
  auto fake = session();
  field_ = {1, 2, 3, 4, 5, 6};
  (void)time_end_to_end<FakeClock>(*fake, std::span<float>(field_), 3);
  EXPECT_TRUE(device_.copied_from_buffer);
  EXPECT_THAT(field_, ElementsAre(1, 2, 3, 4, 5, 6)); // the result came back
}

class ThrowingTest : public TimingTest, public testing::WithParamInterface<const char*> {};

// Whatever throws, the error arrives and says where, and nothing is left alive once the owner is
// gone.
TEST_P(ThrowingTest, NothingLeaks) {
  device_.throws_at = GetParam();
  {
    std::unique_ptr<Session<float>> made;
    try {
      (void)time_first_run<FakeClock>([&] { return session(); }, made, std::span<float>(field_), 10,
                                      100);
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      const std::string call = GetParam();
      EXPECT_EQ(error.what(),
                (call == "make" ? "making the session" : call) + ": " + call + " broke");
    }
  }
  EXPECT_EQ(device_.alive, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, ThrowingTest,
                         testing::Values("make", "upload", "advance", "wait", "download"));

} // namespace
} // namespace diffbench::bench
