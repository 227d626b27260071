// SPDX-License-Identifier: Apache-2.0
// The clock of all times that are measured on the host.
#pragma once

#include <chrono>
#include <utility>

namespace diffbench {

/// Never jumps, whatever is done to the time of day.
using SteadyClock = std::chrono::steady_clock;

/// Runs from when it is made. The clock can be a test's own.
template <typename Clock = SteadyClock>
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// The seconds since it was made or last read by this, by one reading of the clock.
  double lap() {
    const typename Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  typename Clock::time_point start_ = Clock::now();
};

/// Adds the seconds of its life to a sum.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& sum) : sum_(sum) {}
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  ~ScopedTimer() { sum_ += watch_.seconds(); }

 private:
  double& sum_;
  Stopwatch<> watch_;
};

} // namespace diffbench
