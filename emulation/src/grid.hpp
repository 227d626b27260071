// SPDX-License-Identifier: Apache-2.0
// One launch of a kernel, carried out: its blocks and threads in an order that the seed decides.
//
// Threads are fibers. A fiber runs threads one after the other, without a switch, as long as they
// do not wait; a thread that waits keeps its fiber, and another fiber goes on. Any thread that can
// run may be the next one. One to three clusters (of one block, if the launch has none) are
// resident at a time, all of them in a cooperative launch.
#pragma once

#include "findings.hpp"
#include "random.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include <cuda_runtime.h>
#include <emulation/user_calls.h>

namespace diffbench::emulation {

inline std::size_t count(dim3 shape) { return std::size_t{shape.x} * shape.y * shape.z; }

struct GridLaunch {
  dim3 grid;
  dim3 block;
  dim3 cluster; ///< blocks of a cluster; divides the grid
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  std::function<void()> run_thread;
  /// Threads of a block whose accesses nobody looks at.
  std::function<void(detail::ThreadLoop&, uint3&)> run_block = {};
  /// Blocks are watched until they have made so many accesses to memory: those at edges and corners
  /// first, then any, with a neighbour. The others run one after the other.
  std::int64_t watched_accesses = std::numeric_limits<std::int64_t>::max();
};

struct GridCounts {
  std::int64_t blocks = 0;
  std::int64_t watched_blocks = 0;
  std::int64_t switches = 0;
};

/// Runs all of it. Returns what the kernel did wrong ("block (0,0,0), thread (3,0,0) ..."), after
/// which the rest of it is left undone; nothing when it is done.
[[nodiscard]] std::optional<Finding> run_grid(const GridLaunch& launch, Random& random,
                                              GridCounts& counts);

/// Where a running kernel is ("block (0,0,0), thread (3,0,0)"); empty while none runs.
[[nodiscard]] std::string current_place();

/// The thread that runs, without the kernel's name.
[[nodiscard]] std::optional<KernelThread> current_thread();
/// Is `address` on the stack of the thread that runs?
[[nodiscard]] bool on_current_stack(const void* address);
/// What lies at `address`, if it is just outside shared memory of the block that runs.
[[nodiscard]] std::string beside_shared_memory(const void* address);
/// Gives up the kernel that runs.
[[noreturn]] void fail_current_thread(FindingKind kind, const std::string& problem,
                                      const CodeLine& at);
/// Static shared memory of the block that runs: the same for the same key.
[[nodiscard]] void* static_shared(const void* key, std::size_t bytes, std::size_t alignment,
                                  detail::Site site);

/// Is `address` just below the stack of the fiber that runs?
[[nodiscard]] bool stack_overflowed_at(const void* address);

} // namespace diffbench::emulation
