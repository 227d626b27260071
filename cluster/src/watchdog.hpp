// Ends this process, with a message, when what it watches takes too long: a library (HDF5, MPI) or
// the system (a disk that is gone) that does not come back cannot be interrupted from within.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace diffbench::cluster {

class Watchdog {
 public:
  /// `what` stands in "rank 1: <what> has taken more than 3 s"; empty: nothing is said.
  /// `limit_seconds` = 0: it sleeps. The time in which the whole process is stopped does not count.
  Watchdog(int rank, std::string what, double limit_seconds);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  void watch(int rank, const std::string& what, double limit_seconds);

  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;
};

} // namespace diffbench::cluster
