// SPDX-License-Identifier: Apache-2.0
// A process that a watchdog ends is a child of the test. No time decides: what is to live would
// wait for ever, or is never watched for as long as its limit.
#include "diffbench/cluster/watchdog.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include <unistd.h>

namespace diffbench::cluster {
namespace {

using testing::ExitedWithCode;

class WatchdogDeathTest : public testing::Test {
 public:
  WatchdogDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static void sleep_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }
};

TEST_F(WatchdogDeathTest, EndsAProcessThatDoesNotComeBack) {
  EXPECT_EXIT(
      {
        Watchdog watchdog;
        watchdog.set_rank(1);
        const Watched watched(&watchdog, "a step", 0.2);
        ::pause();
      },
      ExitedWithCode(1),
      "^diffbench: rank 1: a step has taken more than 0.2 s .--comm-timeout.\n$");
}

TEST_F(WatchdogDeathTest, TheInnermostCountsAndTheOuterBeginsAnew) {
  EXPECT_EXIT(
      {
        Watchdog watchdog;
        const Watched outer(&watchdog, "the outer", 0.2);
        {
          const Watched inner(&watchdog, "the inner", 0); // for ever
          sleep_a_while();
          std::fputs("it lives; ", stderr);
        }
        ::pause();
      },
      ExitedWithCode(1), "^it lives; diffbench: the outer has taken");
}

TEST_F(WatchdogDeathTest, SaysNothingWhereTheReasonIsSaid) {
  EXPECT_EXIT(
      {
        Watchdog watchdog;
        const Watched watched(&watchdog, "", 0.2);
        ::pause();
      },
      ExitedWithCode(1), "^$");
}

TEST_F(WatchdogDeathTest, WhatShowsProgressLives) {
  EXPECT_EXIT(
      {
        Watchdog* self = nullptr;
        Watchdog watchdog([&self] {
          if (self != nullptr) {
            self->progress(); // between any two looks
          }
        });
        self = &watchdog;
        const Watched watched(&watchdog, "a step", 0.2);
        sleep_a_while();
        std::fputs("it lives", stderr);
        std::_Exit(0);
      },
      ExitedWithCode(0), "^it lives$");
}

TEST_F(WatchdogDeathTest, NothingIsWatchedWithoutOne) {
  const Watched watched(nullptr, "a step", 1e-9);
}

} // namespace
} // namespace diffbench::cluster
