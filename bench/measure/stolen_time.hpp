// SPDX-License-Identifier: Apache-2.0
// Time for which threads were ready to run and others had the CPU.
#pragma once

#include "result.hpp"
#include "thread_times.hpp"

#include <sys/types.h>
#include <filesystem>
#include <map>
#include <string>

namespace diffbench::bench {

/// Since its making, of this process's threads, or of those of another one and the processes that
/// it started. Threads of these that took turns count as others.
class StolenTime {
 public:
  explicit StolenTime(pid_t process = 0, ///< 0: this one
                      const std::filesystem::path& proc = "/proc");
  /// Of a sample that was taken since: what of it was stolen. Its threads meet at barriers, where
  /// one that waits for another sleeps before long; so it takes as long as any one of them worked.
  /// Nothing, where the system does not tell of this process; of another one, all may have been.
  void tell(Sample& sample) const;

 private:
  std::filesystem::path process_; ///< its folder
  bool is_other_;
  std::map<std::string, ThreadTimes> begin_;
};

} // namespace diffbench::bench
