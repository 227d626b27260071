// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/watchdog.hpp"

#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace diffbench::cluster {

Watchdog::Watchdog(std::function<void()> on_look)
    : on_look_(std::move(on_look)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  constexpr double longest_lap = 0.2; // of a process that runs
  Stopwatch<> stopwatch;
  double waited = 0;
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (!over_changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return over_; })) {
    const double lap = std::min(stopwatch.lap(), longest_lap);
    const std::uint64_t moves = moves_;
    const char* const what = what_;
    const double limit = limit_seconds_;
    waited = std::exchange(seen, moves) == moves && what != nullptr ? waited + lap : 0;
    if (limit > 0 && waited > limit && moves == moves_) { // so that these belong together
      if (*what != '\0') {
        const int rank = rank_;
        const std::string who = rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
        std::fprintf(stderr, "diffbench: %s%s has taken more than %g s (--comm-timeout)\n",
                     who.c_str(), what, limit);
      }
      std::_Exit(1);
    }
    if (on_look_) {
      on_look_();
    }
  }
}

Watched::Watched(Watchdog* watchdog, const char* what, double limit_seconds) : watchdog_(watchdog) {
  if (watchdog_ != nullptr) {
    watchdog_->progress();
    outer_limit_ = watchdog_->limit_seconds_.exchange(limit_seconds);
    outer_what_ = watchdog_->what_.exchange(what);
    watchdog_->progress();
  }
}

Watched::~Watched() {
  if (watchdog_ != nullptr) {
    watchdog_->progress();
    watchdog_->what_ = outer_what_;
    watchdog_->limit_seconds_ = outer_limit_;
    watchdog_->progress();
  }
}

} // namespace diffbench::cluster
