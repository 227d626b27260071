// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: what one signal, two at once, and two after each other do.
#include "interrupt.hpp"

#include "output.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

namespace diffbench::bench {
namespace {

/// The tests after these are to find no signal.
class Interrupt : public testing::Test {
 protected:
  void TearDown() override { const InterruptGuard fresh; }
};

TEST_F(Interrupt, IsNoticedWhileAGuardLives) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const InterruptGuard guard;
    EXPECT_FALSE(interrupted());
    std::raise(signal);
    EXPECT_TRUE(interrupted());
  }
}

TEST_F(Interrupt, OfAClosedTerminalIsNoneUnderNohup) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptGuard guard;
    std::raise(SIGHUP);
    EXPECT_FALSE(interrupted());
  }
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

// As timeout(1) does, which signals the program and then its group.
TEST_F(Interrupt, TwoSignalsAtOnceAreOneRequest) {
  const InterruptGuard guard;
  std::raise(SIGINT);
  std::raise(SIGINT);
  EXPECT_TRUE(interrupted());
}

TEST(InterruptDeathTest, ASecondRequestEndsTheProgramAtOnce) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe"; // libraries have threads
  EXPECT_EXIT(
      {
        const InterruptGuard guard;
        std::raise(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        std::raise(SIGINT);
      },
      testing::ExitedWithCode(exit_interrupted), "");
}

} // namespace
} // namespace diffbench::bench
