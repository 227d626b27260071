// SPDX-License-Identifier: Apache-2.0
// Processor time of this process over short stretches.
#pragma once

#include <sys/time.h>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// As getrusage(2) has it.
[[nodiscard]] constexpr double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// What the threads that were there when it was made have used since. The process's own clock will
/// not do: Linux adds to it what other running threads use only at ticks of 1 to 10 ms
/// (clock_getres(2) of CLOCK_PROCESS_CPUTIME_ID promises more), so that a sample of 300 us on two
/// threads showed 1 or 8 CPUs.
class CpuTime {
 public:
  CpuTime();
  /// The calling thread's first, since reading takes time itself.
  [[nodiscard]] double seconds() const;

 private:
  std::vector<std::pair<clockid_t, double>> begin_; ///< each thread's clock and what it showed
};

} // namespace diffbench::bench
