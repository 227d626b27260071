// SPDX-License-Identifier: Apache-2.0
// Time for which threads were ready to run and others had the CPU.
#pragma once

#include <sys/types.h>

namespace diffbench::bench {

/// Since its making: the sum over the threads that a process has (Linux: sched-stats.rst, the
/// second number of /proc/PID/task/TID/schedstat). What it shows is never less than by what wall
/// times grew: threads that wait at once are counted each. Threads of the process that took turns
/// are counted, too. Nothing where the system does not tell.
class StolenTime {
 public:
  explicit StolenTime(pid_t process = 0); ///< 0: this one
  [[nodiscard]] double seconds() const;

 private:
  pid_t process_;
  double begin_;
};

} // namespace diffbench::bench
