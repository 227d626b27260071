// SPDX-License-Identifier: Apache-2.0
// What the suites measure on a GPU, beside the backends: launches and waiting. The build has one of
// two implementations: gpu_sync.cu, or gpu_absent.cpp where DIFFBENCH_CUDA is off.
#pragma once

#include "diffbench/backend.hpp"
#include "operation.hpp"

namespace diffbench::bench {

/// Whether there is a GPU to use, or why not. The suites use the first one.
[[nodiscard]] Probe probe_gpu();
/// The GPU is the tests' emulation: everything runs and is checked, nothing may be timed.
[[nodiscard]] bool gpu_is_emulated();

enum class GpuSync {
  launch,             ///< of an empty kernel in a stream, one after the other
  launch_and_wait,    ///< the same, each waited for
  graph_launch,       ///< of an empty kernel as one of many in a graph
  event_record,       ///< in a stream
  stream_synchronize, ///< of a stream without work
  device_synchronize, ///< of a device without work
  grid_barrier,       ///< across a cooperative kernel of one block a multiprocessor
};

/// Kernels of a graph: counts of GpuSync::graph_launch are multiples of it.
inline constexpr std::int64_t kernels_per_graph = 100;

/// Throws Unavailable where the device cannot do that, WrongResult for a barrier that is none,
/// CudaError.
[[nodiscard]] Operation make_gpu_sync(GpuSync what);

} // namespace diffbench::bench
