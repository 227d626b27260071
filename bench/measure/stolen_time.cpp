// SPDX-License-Identifier: Apache-2.0
#include "stolen_time.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

namespace diffbench::bench {

StolenTime::StolenTime(pid_t process, const std::filesystem::path& proc)
    : threads_(proc / (process == 0 ? "self" : std::to_string(process)) / "task"),
      begin_(threads()) {}

std::map<std::string, StolenTime::Thread> StolenTime::threads() const {
  std::map<std::string, Thread> all;
  std::error_code error;
  std::filesystem::directory_iterator thread(threads_, error);
  for (; !error && thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    std::ifstream file(thread->path() / "schedstat");
    std::uint64_t ran = 0;
    std::uint64_t waited = 0;
    if (file >> ran >> waited) {
      all[thread->path().filename()] = {.ran = 1e-9 * static_cast<double>(ran),
                                        .waited = 1e-9 * static_cast<double>(waited)};
    }
  }
  return all;
}

void StolenTime::tell(Sample& sample) const {
  constexpr double worked = 0.02; // what a thread that sleeps does besides is less
  double stolen = 0;
  double all_ran = 0;
  double least_ran = std::numeric_limits<double>::infinity();
  int working = 0;
  for (const auto& [name, now] : threads()) {
    const auto found = begin_.find(name);
    const Thread begin = found == begin_.end() ? Thread() : found->second;
    const double ran = now.ran - begin.ran;
    const double waited = now.waited - begin.waited;
    if (std::max(ran, waited) > worked * sample.seconds) { // also one that yields to others
      stolen += waited;
      all_ran += ran;
      least_ran = std::min(least_ran, ran);
      ++working;
    }
  }
  sample.stolen_seconds = std::clamp(stolen, 0.0, sample.seconds);
  // Getting to where the sample starts is work besides.
  const double besides = std::max(0.0, all_ran - sample.cpu_seconds.value_or(all_ran));
  sample.worked_seconds = working == 0 ? 0 : std::clamp(least_ran - besides, 0.0, sample.seconds);
  sample.on_one_thread = working == 1;
}

} // namespace diffbench::bench
