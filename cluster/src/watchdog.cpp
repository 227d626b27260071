#include "watchdog.hpp"

#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace diffbench::cluster {

Watchdog::Watchdog(int rank, std::string what, double limit_seconds) {
  if (limit_seconds > 0) {
    thread_ = std::thread(
        [this, rank, what = std::move(what), limit_seconds] { watch(rank, what, limit_seconds); });
  }
}

Watchdog::~Watchdog() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    over_changed_.notify_one();
    thread_.join();
  }
}

void Watchdog::watch(int rank, const std::string& what, double limit_seconds) {
  constexpr double longest_lap = 0.2; // of a process that runs
  Stopwatch<> stopwatch;
  double waited = 0;
  std::unique_lock lock(mutex_);
  while (!over_changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return over_; })) {
    waited += std::min(stopwatch.lap(), longest_lap);
    if (waited > limit_seconds) {
      // The launcher ends the other ranks when one has ended with an error.
      if (!what.empty()) {
        std::fprintf(stderr, "diffbench: rank %d: %s has taken more than %g s (--comm-timeout)\n",
                     rank, what.c_str(), limit_seconds);
      }
      std::_Exit(1);
    }
  }
}

} // namespace diffbench::cluster
