// SPDX-License-Identifier: Apache-2.0
#include "thread_times.hpp"

#include <cstdint>
#include <fstream>
#include <system_error>

namespace diffbench::bench {

std::map<std::string, ThreadTimes> thread_times(const std::filesystem::path& process, bool tree) {
  std::map<std::string, ThreadTimes> all;
  std::error_code error;
  std::filesystem::directory_iterator thread(process / "task", error);
  for (; !error && thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    std::ifstream file(thread->path() / "schedstat");
    std::uint64_t ran = 0;
    std::uint64_t waited = 0;
    if (file >> ran >> waited) {
      all[thread->path().filename()] = {.ran = 1e-9 * static_cast<double>(ran),
                                        .waited = 1e-9 * static_cast<double>(waited)};
    }
    std::ifstream children(thread->path() / "children");
    for (std::string child; tree && children >> child;) {
      all.merge(thread_times(process.parent_path() / child, tree));
    }
  }
  return all;
}

} // namespace diffbench::bench
