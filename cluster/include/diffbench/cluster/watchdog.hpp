// SPDX-License-Identifier: Apache-2.0
// Ends this process, with a message, when a call of MPI or of the system (a disk
// that is gone) does not come back: nothing within the process could interrupt it. The launcher
// then ends the other ranks.
//
// One thread looks at what is watched ten times a second. To begin, to end and to show progress are
// a few stores each, so that even an exchange of halos can be watched.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace diffbench::cluster {

class Watchdog {
 public:
  /// `on_look` is called by its thread each time that it looks.
  explicit Watchdog(std::function<void()> on_look = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// That stands in messages; -1, as before it is called: none does.
  void set_rank(int rank) { rank_ = rank; }
  /// What is watched has not stood still: its time begins anew.
  void progress() { ++moves_; }

 private:
  friend class Watched;

  void watch();

  std::function<void()> on_look_;
  std::atomic<int> rank_ = -1;
  std::atomic<const char*> what_ = nullptr; ///< null: nothing is watched
  std::atomic<double> limit_seconds_ = 0;
  std::atomic<std::uint64_t> moves_ = 0;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;
};

/// While it lives, what its thread does is watched. They nest: the innermost counts.
class Watched {
 public:
  /// `what` lives as long as the program and stands in "rank 1: <what> has taken more than 3 s";
  /// if it is empty, nothing is said. Without a watchdog (null), or with a limit of 0, nothing is
  /// watched. The time in which the whole process is stopped does not count.
  Watched(Watchdog* watchdog, const char* what, double limit_seconds);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

 private:
  Watchdog* watchdog_;
  const char* outer_what_ = nullptr;
  double outer_limit_ = 0;
};

} // namespace diffbench::cluster
