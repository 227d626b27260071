// SPDX-License-Identifier: Apache-2.0
// Which CPUs the threads of a team run on.
#pragma once

#include <thread>
#include <vector>

namespace diffbench {

/// Keeps the threads of a team off the CPU of the thread that calls them, its thread 0, which is
/// free to run where it likes. Left to itself, Linux may wake a thread on the CPU of its caller
/// though others are idle, and the two take turns there, for milliseconds: on a virtual machine
/// with two CPUs it did so in up to 192 of 200 calls. With as many threads as CPUs each has its
/// own. With more, or where the system does not allow it, all run where the system puts them.
class TeamPlaces {
 public:
  /// For a team of `count` threads with the calling one, on the CPUs that it may use now.
  explicit TeamPlaces(int count);

  /// Notes where the calling thread is. True where that is another CPU than before, or it is the
  /// first time: then all others have to be placed, again. Some 20 ns.
  bool follow_caller();
  /// Places thread `thread` of the team, from 1.
  void place(std::thread::native_handle_type handle, int thread) const;

 private:
  std::vector<int> cpus_; ///< empty where nothing is placed
  bool one_each_ = false;
  int caller_cpu_ = -1;
};

} // namespace diffbench
