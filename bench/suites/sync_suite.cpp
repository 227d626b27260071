// SPDX-License-Identifier: Apache-2.0
// The benchmarks sync/: what it costs to start work and to wait for it, on the CPU and on a GPU.
#include "cpu_sync.hpp"
#include "diffbench/machine.hpp"
#include "gpu_operations.hpp"
#include "suite.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Enough that the start of a repetition does not count; 50 ms where an operation takes 50 us.
constexpr std::int64_t operations = 1000;
static_assert(operations % kernels_per_graph == 0);

template <typename Timed>
Repetition repetition(const Timed& operation) {
  operation(kernels_per_graph); // the first use loads code and wakes threads
  return [operation](benchmark::State& state) {
    while (state.KeepRunningBatch(operations)) {
      operation(operations);
    }
  };
}

/// Powers of two, and all that this process may use.
std::vector<int> thread_counts() {
  const int usable = usable_cpus();
  std::vector<int> counts;
  for (int threads = 2; threads < usable; threads *= 2) {
    counts.push_back(threads);
  }
  counts.push_back(usable);
  return counts;
}

void add_cpu_syncs() {
  for (const CpuSync& sync : cpu_syncs()) {
    for (const int threads : thread_counts()) {
      add_benchmark(fmt::format("sync/cpu/{}/threads:{}", sync.name, threads), operations,
                    [=] { return repetition(sync.make(threads)); });
    }
  }
}

void add_gpu_syncs() {
  constexpr std::pair<const char*, GpuSync> syncs[] = {
      {"launch", GpuSync::launch},
      {"launch_and_wait", GpuSync::launch_and_wait},
      {"graph_launch", GpuSync::graph_launch},
      {"event_record", GpuSync::event_record},
      {"stream_synchronize", GpuSync::stream_synchronize},
      {"device_synchronize", GpuSync::device_synchronize},
      {"grid_barrier", GpuSync::grid_barrier}};
  const Probe probe = probe_gpu();
  for (const auto& [name, sync] : syncs) {
    const std::string full_name = fmt::format("sync/gpu/{}", name);
    if (!probe.available) {
      add_skipped(full_name, probe.reason);
      continue;
    }
    add_benchmark(full_name, operations, [sync = sync] {
      const Repetition timed = repetition(make_gpu_sync(sync));
      return gpu_is_emulated() ? Repetition() : timed;
    });
  }
}

} // namespace

void add_syncs() {
  add_cpu_syncs();
  add_gpu_syncs();
}

} // namespace diffbench::bench
