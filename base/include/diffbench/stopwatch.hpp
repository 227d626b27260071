// The clock of all times that are measured on the host.
#pragma once

#include <chrono>

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

 private:
  typename Clock::time_point start_ = Clock::now();
};

} // namespace diffbench
