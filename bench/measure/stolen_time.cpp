// SPDX-License-Identifier: Apache-2.0
#include "stolen_time.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace diffbench::bench {

namespace {

double waited(pid_t process) {
  const auto folder =
      process == 0 ? std::string("/proc/self/task") : fmt::format("/proc/{}/task", process);
  double nanoseconds = 0;
  std::error_code error;
  std::filesystem::directory_iterator thread(folder, error);
  for (; !error && thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    std::ifstream file(thread->path() / "schedstat");
    std::uint64_t ran = 0;
    std::uint64_t waited = 0;
    if (file >> ran >> waited) {
      nanoseconds += static_cast<double>(waited);
    }
  }
  return 1e-9 * nanoseconds;
}

} // namespace

StolenTime::StolenTime(pid_t process) : process_(process), begin_(waited(process)) {}

double StolenTime::seconds() const { return waited(process_) - begin_; }

} // namespace diffbench::bench
