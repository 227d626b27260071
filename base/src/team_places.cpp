// SPDX-License-Identifier: Apache-2.0
// Sources: sched_getcpu(3), pthread_setaffinity_np(3).
#include "diffbench/team_places.hpp"

#include "diffbench/machine.hpp"

#include <cstddef>
#include <utility>

#include <pthread.h>
#include <sched.h>

namespace diffbench {

TeamPlaces::TeamPlaces(int count) {
  std::vector<int> cpus = affinity();
  const auto threads = static_cast<std::size_t>(count);
  if (threads > 1 && threads <= cpus.size() && cpus.back() < CPU_SETSIZE) {
    one_each_ = threads == cpus.size();
    cpus_ = std::move(cpus);
  }
}

bool TeamPlaces::follow_caller() {
  if (cpus_.empty()) {
    return false;
  }
  const int before = std::exchange(caller_cpu_, sched_getcpu());
  return caller_cpu_ != before;
}

void TeamPlaces::place(std::thread::native_handle_type handle, int thread) const {
  if (cpus_.empty()) {
    return;
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (one_each_) {
    // Only the thread in the caller's way changes places with it.
    const int home = cpus_[static_cast<std::size_t>(thread)];
    CPU_SET(home == caller_cpu_ ? cpus_.front() : home, &allowed);
  } else {
    for (const int cpu : cpus_) {
      if (cpu != caller_cpu_) {
        CPU_SET(cpu, &allowed);
      }
    }
  }
  (void)pthread_setaffinity_np(handle, sizeof allowed, &allowed);
}

} // namespace diffbench
