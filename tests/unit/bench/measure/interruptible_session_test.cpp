// SPDX-License-Identifier: Apache-2.0
// Which calls long work is cut into, and where Ctrl-C ends it.
#include "interruptible_session.hpp"

#include "fake_session.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;

TEST(Pace, BeginsWithOneStep) { EXPECT_EQ(Pace().next(1000), 1); }

TEST(Pace, WhatIsShortStaysOneCall) {
  Pace pace;
  pace.took(4, 4e-3);
  EXPECT_EQ(pace.next(300), 300);
  EXPECT_EQ(pace.next(300, 7), 300);
}

TEST(Pace, WhatIsLongIsCutIntoWholeSweeps) {
  Pace pace;
  pace.took(50, 0.1);
  EXPECT_EQ(pace.next(1000), 100);
  EXPECT_EQ(pace.next(1000, 16), 96);
  EXPECT_EQ(pace.next(1000, 128), 128);  // a sweep of 0.26 s is not cut
  EXPECT_EQ(pace.next(1000, 1000), 100); // one of 2 s is
}

TEST(Pace, CallsGrowTwofold) {
  Pace pace;
  pace.took(1, 1e-6); // a lucky one
  EXPECT_EQ(pace.next(1'000'000), 2);
  pace.took(2, 2e-6);
  EXPECT_EQ(pace.next(1'000'000), 4);
  EXPECT_EQ(pace.next(1'000'000, 64), 64); // a sweep is not cut
  pace.took(64, 64e-6);
  pace.took(1, 1e-6); // what was left of something else
  EXPECT_EQ(pace.next(1'000'000), 64);
}

TEST(Pace, AStepIsNeverCut) {
  Pace pace;
  pace.took(1, 3);
  EXPECT_EQ(pace.next(1000, 8), 1);
}

TEST(Pace, AClockThatStandsStillCutsNothing) {
  Pace pace;
  pace.took(1, 0);
  EXPECT_EQ(pace.next(1000), 1000);
}

bool end_wanted = false;
bool wants_end() noexcept { return end_wanted; }

/// Notes the steps of each call, and presses Ctrl-C in one of them.
class CountingSession final : public ForwardingSession<float> {
 public:
  CountingSession(FakeDevice& device, std::vector<std::int64_t>& calls, std::size_t stop_in)
      : calls_(calls), stop_in_(stop_in) {
    inner_ = std::make_unique<FakeSession>(device);
  }
  void advance(std::int64_t steps) override {
    calls_.push_back(steps);
    end_wanted = calls_.size() == stop_in_;
    inner_->advance(steps);
  }

 private:
  std::vector<std::int64_t>& calls_;
  std::size_t stop_in_;
};

class InterruptibleSessionTest : public testing::Test {
 protected:
  InterruptibleSessionTest() { end_wanted = false; }

  std::unique_ptr<Session<float>> session(double step_seconds, std::size_t stop_in = 0) {
    device_.step_seconds = step_seconds;
    return std::make_unique<InterruptibleSession<float, FakeClock>>(
        std::make_unique<CountingSession>(device_, calls_, stop_in), wants_end);
  }

  FakeDevice device_;
  std::vector<std::int64_t> calls_;
};

TEST_F(InterruptibleSessionTest, ShortWorkIsOneCallThatMayReturnEarly) {
  const auto session = this->session(1e-4);
  session->advance(1);
  session->wait();
  device_.log.clear();
  session->advance(1000);
  EXPECT_THAT(calls_, ElementsAre(1, 1000));
  EXPECT_THAT(device_.log, ElementsAre("advance"));
}

TEST_F(InterruptibleSessionTest, LongWorkIsCutAndAllOfItIsMade) {
  const auto session = this->session(0.01);
  session->advance(1000);
  session->wait();
  std::int64_t sum = 0;
  for (const std::int64_t steps : calls_) {
    sum += steps;
  }
  EXPECT_EQ(sum, 1000);
  calls_.erase(calls_.begin(), calls_.begin() + 5); // 1, 2, 4, 8, 16
  calls_.pop_back();
  EXPECT_THAT(calls_, Each(testing::AllOf(Ge(19), Le(20))));
}

TEST_F(InterruptibleSessionTest, CtrlCEndsItAfterTheCall) {
  const auto session = this->session(0.01, 3);
  EXPECT_THROW(session->advance(1000), Interrupted);
  EXPECT_EQ(calls_.size(), 3U);
  EXPECT_EQ(device_.log.back(), "wait");
}

TEST_F(InterruptibleSessionTest, AfterCtrlCNoCallBegins) {
  const auto session = this->session(0.01);
  end_wanted = true;
  EXPECT_THROW(session->advance(1), Interrupted);
  EXPECT_THAT(calls_, IsEmpty());
}

TEST(UncutSteps, AreThoseOfASweepOrOfAnExchange) {
  EXPECT_EQ(uncut_steps({}), 1);
  EXPECT_EQ(uncut_steps({.sweep_depth = 12}), 12);
  EXPECT_EQ(uncut_steps({.sweep_depth = 12, .resident = true}), 1);
  EXPECT_EQ(uncut_steps({.sweep_depth = 12, .halo_depth = 8}), 8);
}

} // namespace
} // namespace diffbench::bench
