// SPDX-License-Identifier: Apache-2.0
// What the kernel counts of threads: for how long each ran, and for how long it was ready and
// others had its CPU (Linux: sched-stats.rst, the first two numbers of
// /proc/PID/task/TID/schedstat).
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace diffbench::bench {

struct ThreadTimes {
  double ran = 0, waited = 0; ///< seconds
};

/// Of the threads of a process, by their ids, and with `tree` also of the processes that it started
/// and that live, and of theirs. `process` is its folder, such as /proc/self. Nothing where the
/// system does not tell.
[[nodiscard]] std::map<std::string, ThreadTimes> thread_times(const std::filesystem::path& process,
                                                              bool tree);

} // namespace diffbench::bench
