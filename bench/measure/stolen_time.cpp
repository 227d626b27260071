// SPDX-License-Identifier: Apache-2.0
#include "stolen_time.hpp"

#include <algorithm>
#include <limits>

namespace diffbench::bench {

StolenTime::StolenTime(pid_t process, const std::filesystem::path& proc)
    : process_(proc / (process == 0 ? "self" : std::to_string(process))),
      is_other_(process != 0),
      begin_(thread_times(process_, is_other_)) {}

void StolenTime::tell(Sample& sample) const {
  constexpr double worked = 0.02; // what a thread that sleeps does besides is less
  double stolen = 0;
  double all_ran = 0;
  double least_ran = std::numeric_limits<double>::infinity();
  int working = 0;
  for (const auto& [name, now] : thread_times(process_, is_other_)) {
    const auto found = begin_.find(name);
    const ThreadTimes begin = found == begin_.end() ? ThreadTimes() : found->second;
    const double ran = now.ran - begin.ran;
    const double waited = now.waited - begin.waited;
    if (std::max(ran, waited) > worked * sample.seconds) { // also one that yields to others
      stolen += waited;
      all_ran += ran;
      least_ran = std::min(least_ran, ran);
      ++working;
    }
  }
  if (working == 0) {
    sample.stolen_seconds = is_other_ ? sample.seconds : 0;
    return;
  }
  // Getting to where the sample starts is work besides.
  const double besides = std::max(0.0, all_ran - sample.cpu_seconds.value_or(all_ran));
  sample.stolen_seconds = std::clamp(stolen, 0.0, sample.seconds);
  sample.worked_seconds = std::clamp(least_ran - besides, 0.0, sample.seconds);
  sample.on_one_thread = working == 1;
}

} // namespace diffbench::bench
