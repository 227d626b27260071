// SPDX-License-Identifier: Apache-2.0
// How a rank waits: it tests, and what it does between two tests grows with the time that it has
// waited. First nothing, since a neighbour that is about as far sends within microseconds; then it
// gives its CPU to whoever wants it; then it sleeps. So ranks that have a CPU each lose nothing,
// and with more ranks than CPUs those that wait leave them to those that compute.
#pragma once

#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <sched.h>

namespace diffbench::cluster {

struct Patience {
  double seconds = 0; ///< 0: for ever
  std::chrono::microseconds longest_sleep{200};
};

/// Calls `done` until it is true, or for as long as the patience lasts; returns what it said last.
template <typename Done>
[[nodiscard]] bool wait_until(Done&& done, const Patience& patience) {
  // A test takes 0.1 to 1 us, so does a yield that nobody uses.
  constexpr int spins = 100;
  constexpr int yields = 1000;
  for (int i = 0; i < spins; ++i) {
    if (done()) {
      return true;
    }
  }
  // A process that was stopped for a while has not waited meanwhile: it is the one that others
  // miss.
  constexpr double longest_lap = 0.1;
  Stopwatch<> watch;
  double waited = 0;
  std::chrono::microseconds sleep{10};
  for (int i = 0; !done(); ++i) {
    waited += std::min(watch.lap(), longest_lap);
    if (patience.seconds > 0 && waited >= patience.seconds) {
      return done();
    }
    if (i < yields) {
      ::sched_yield();
    } else {
      std::this_thread::sleep_for(sleep);
      sleep = std::min(2 * sleep, patience.longest_sleep);
    }
  }
  return true;
}

} // namespace diffbench::cluster
