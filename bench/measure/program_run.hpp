// SPDX-License-Identifier: Apache-2.0
// A program run from its start to its end, and what that took. Linux.
//
// What the start costs is in the time of each run, so nothing is done between the two readings of
// the clock that could be done before: the program is looked up once, and started by posix_spawn,
// which copies no page tables.
#pragma once

#include "process.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What one run took; wait4(2) tells all but the wall time. Of the program and what it has waited
/// for.
struct ProgramRun {
  double seconds = 0; ///< wall time
  double user_seconds = 0;
  double system_seconds = 0;
  /// Empty where it is not above what this process itself has had: the kernel counts that in.
  std::optional<std::int64_t> peak_bytes;
  std::int64_t page_faults = 0;      ///< without and with reading from a disk
  std::int64_t context_switches = 0; ///< of its own accord and not
  int status = 0;                    ///< exit code, 128 + n after signal n
  int signal = 0;                    ///< that ended it; 0: none
};

/// What it wrote, where somebody looks.
struct ProgramOutput {
  std::string digest;     ///< SHA-256 of stdout
  std::int64_t bytes = 0; ///< of stdout
  std::string last_words; ///< the last line on stderr
};

struct ProgramPlan {
  std::vector<std::string> words; ///< the program and its arguments
  double limit_seconds = 0;       ///< it is killed after so long; 0: never
};

class Program {
 public:
  /// Looks up the program, in PATH unless it has a slash. Throws InvalidInput for one that is not
  /// there or cannot be run.
  explicit Program(ProgramPlan plan);

  /// Runs it in a session of its own, without a terminal; its stdout and stderr go nowhere. Blocks
  /// until it has ended, and kills what it has left in that session, in the background. Throws
  /// Error when it cannot be started or is out of time, Interrupted after Ctrl-C; it is then
  /// killed, too.
  [[nodiscard]] ProgramRun run() const;
  /// The same, but its output is read, which takes time.
  [[nodiscard]] ProgramRun run(ProgramOutput& output) const;

 private:
  [[nodiscard]] ProcessPlan start(int out, int err) const;

  ProgramPlan plan_;
  std::string path_;
  FileDescriptor nowhere_;
};

} // namespace diffbench::bench
