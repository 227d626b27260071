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

bool TeamPlaces::caller_moved() {
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
  int others = 0;
  for (const int cpu : cpus_) {
    if (cpu != caller_cpu_ && (++others == thread || !one_each_)) {
      CPU_SET(cpu, &allowed);
    }
  }
  (void)pthread_setaffinity_np(handle, sizeof allowed, &allowed);
}

} // namespace diffbench
