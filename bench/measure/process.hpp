// SPDX-License-Identifier: Apache-2.0
// Another program, started as a child: where its streams lead, what is killed with it, how it ended
// and what that took. Linux.
//
// child_process.hpp talks to one in lines, program_run.hpp times one from start to end.
#pragma once

#include "diffbench/stopwatch.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace diffbench::bench {

/// A file descriptor that is closed with its owner.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  [[nodiscard]] int get() const { return fd_; }
  void reset();

 private:
  int fd_;
};

struct ProcessPlan {
  /// What is its own, and killed as a whole.
  enum class Own {
    nothing, ///< the terminal's keys reach it as they reach us
    group,   ///< if we are killed, the kernel ends it, also where it is stopped
    session  ///< without a terminal; whatever groups a shell or timeout(1) has made in it
  };
  std::vector<std::string> words;  ///< the program and its arguments
  std::string path = {};           ///< of the program; empty: its word is looked up in PATH
  std::string directory = {};      ///< in which it runs; empty: ours
  std::string input = {};          ///< file for stdin, in the place of `in`
  int in = -1, out = -1, err = -1; ///< its streams; -1: ours
  Own own = Own::session;
};

/// How one ended. Of the program and what it has waited for.
struct ProcessEnd {
  int status = 0; ///< exit code, 128 + n after signal n
  int signal = 0; ///< that ended it; 0: none
  rusage usage{};
};

class Process {
 public:
  /// Starts it, with no signal blocked or ignored. Throws Error when it cannot be started.
  explicit Process(const ProcessPlan& plan);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills it where it has not ended.
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// A descriptor that can be read once it has ended.
  [[nodiscard]] int ended() const { return ended_.get(); }
  [[nodiscard]] double seconds() const { return watch_.seconds(); } ///< since its start

  /// Blocks until it has ended, which is kept, or `limit` seconds have passed or `stops`, asked
  /// every 100 ms, says so. What it has left in a session of its own is killed with its end.
  const std::optional<ProcessEnd>& wait(double limit, const std::function<bool()>& stops = {});
  /// Sends a signal to all that is its own.
  void send(int signal) const;
  /// Ends all that is its own, and waits for the child.
  void kill_now();

 private:
  void reap();

  ProcessPlan::Own own_;
  pid_t pid_ = -1;
  Stopwatch<> watch_;
  FileDescriptor ended_;
  std::optional<ProcessEnd> end_;
};

/// The pointers to `words` that exec takes, and does not write to.
[[nodiscard]] std::vector<char*> pointers_to(const std::vector<std::string>& words);

} // namespace diffbench::bench
