// SPDX-License-Identifier: Apache-2.0
// The device: whether there is one, what it can do, how much memory is free.
#pragma once

#include "diffbench/execution.hpp"

#include <cstdint>
#include <string>

#include <cuda_runtime.h>

namespace diffbench::gpu {

/// Whether the runtime is the one of emulation/, which runs on the CPU: its times mean
/// nothing.
#if defined(DIFFBENCH_EMULATED_CUDA)
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif

struct Device {
  int index = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::int64_t shared_bytes_per_block = 0; ///< the largest that a kernel may opt in to
  int most_blocks_y = 0;                   ///< of a launch
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  bool cooperative_launch = false;
  bool cluster_launch = false;
  bool concurrent_managed_access = false; ///< the host may use managed memory while kernels run
};

/// Never throws: available, with its facts, or why not, in the driver's own words where they are
/// its own (no driver, no such device, one that this build has no code for).
[[nodiscard]] Probe probe_device(int index) noexcept;

/// Makes `index` current and reads its properties. The first call of a process creates the context
/// (0.1 to 0.3 s). Throws Unavailable for an index that does not exist (naming those that do) or a
/// device of a compute capability that this build has no code for (naming those it has).
[[nodiscard]] Device use_device(int index);

/// Throws Unavailable when `device` cannot copy in this way.
void require_transfer(Transfer transfer, const Device& device);

/// What work on `device` with these options is known by: its name, compute capability and the way
/// of the copies. Users add what is theirs.
[[nodiscard]] Provenance device_provenance(const Device& device, const SessionOptions& options);

/// Free bytes on the current device. Throws CudaError.
[[nodiscard]] std::int64_t free_memory();

} // namespace diffbench::gpu
