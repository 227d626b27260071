// One launch of a kernel, carried out: its blocks and threads in an order that the seed decides.
//
// Threads are fibers. A fiber runs threads one after the other, without a switch, as long as they
// do not wait; a thread that waits keeps its fiber, and another fiber goes on. Any thread that can
// run may be the next one. One to three clusters (of one block, if the launch has none) are
// resident at a time, all of them in a cooperative launch.
#pragma once

#include "random.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <cuda_runtime.h>

namespace diffbench::emulation {

struct GridLaunch {
  dim3 grid;
  dim3 block;
  dim3 cluster; ///< blocks of a cluster; divides the grid
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  std::function<void()> run_thread;
};

struct GridCounts {
  std::int64_t blocks = 0;
  std::int64_t switches = 0;
};

/// Runs all of it. Returns what the kernel did wrong ("block (0,0,0), thread (3,0,0) ..."), after
/// which the rest of it is left undone; empty when it is done.
[[nodiscard]] std::string run_grid(const GridLaunch& launch, Random& random, GridCounts& counts);

/// Where a running kernel is ("block (0,0,0), thread (3,0,0)"); empty while none runs.
[[nodiscard]] std::string current_place();

/// Is `address` just below the stack of the fiber that runs?
[[nodiscard]] bool stack_overflowed_at(const void* address);

} // namespace diffbench::emulation
