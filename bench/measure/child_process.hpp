// SPDX-License-Identifier: Apache-2.0
// A program started as a child, with a channel of lines to its stdin and stdout; what it writes to
// stderr is kept for messages. Linux.
#pragma once

#include "process.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

class ChildProcess {
 public:
  /// Starts command[0], looked up in PATH, in a process group of its own, with default signal
  /// dispositions. Throws Error when it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Closes the channel, lets the child go on, gives it half a second to end, then kills its
  /// process group.
  ~ChildProcess();

  /// Hands over a line; whether the child could be reached.
  [[nodiscard]] bool write_line(const std::string& line);

  enum class Outcome { line, closed, timeout, interrupted };
  /// Blocks until a line has come (without its newline, in `line`), the child has closed its end,
  /// `limit` has passed, or `interrupted`, asked every 100 ms, says so.
  [[nodiscard]] Outcome read_line(std::string& line, std::chrono::duration<double> limit,
                                  const std::function<bool()>& interrupted = {});

  /// Stops the child and what it has started in its process group (SIGSTOP), until go_on(); returns
  /// once it has stopped, or ended. One that is stopped reads and answers nothing.
  void stop();
  void go_on();

  /// Ends the child and what it has started, whatever they are at.
  void kill_now() { process_.kill_now(); }

  /// Waits for the end of the child; the exit status, 128 + n after signal n, or nothing when it
  /// still runs after `limit`.
  std::optional<int> wait(std::chrono::duration<double> limit);

  /// The last lines, up to `count`, that the child has written to stderr, joined by " | ".
  [[nodiscard]] std::string last_words(int count = 3) const;
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  struct Channel {
    Channel();
    FileDescriptor ours, childs;
    FileDescriptor errors; // a file in memory: nobody has to drain it while the child runs
  };
  Channel channel_;
  Process process_;
  std::string received_;   // read, but not yet handed out
  std::size_t looked_ = 0; // of that, for the end of a line
  bool stopped_ = false;
};

} // namespace diffbench::bench
