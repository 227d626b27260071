// SPDX-License-Identifier: Apache-2.0
// Time for which threads were ready to run and others had the CPU.
#pragma once

#include "result.hpp"

#include <sys/types.h>
#include <filesystem>
#include <map>
#include <string>

namespace diffbench::bench {

/// Since its making, of the threads of a process that worked meanwhile: for how long each ran, and
/// for how long it was ready and others had the CPU (Linux: sched-stats.rst, the first two numbers
/// of /proc/PID/task/TID/schedstat). Threads of the process that took turns count as others.
/// Nothing is stolen where the system does not tell.
class StolenTime {
 public:
  explicit StolenTime(pid_t process = 0, ///< 0: this one
                      const std::filesystem::path& proc = "/proc");
  /// Of a sample that was taken since: what of it was stolen. Its threads meet at barriers, where
  /// one that waits for another sleeps before long; so it takes as long as any one of them worked.
  void tell(Sample& sample) const;

 private:
  struct Thread {
    double ran = 0, waited = 0; ///< seconds
  };
  [[nodiscard]] std::map<std::string, Thread> threads() const;

  std::filesystem::path threads_; ///< a folder each
  std::map<std::string, Thread> begin_;
};

} // namespace diffbench::bench
