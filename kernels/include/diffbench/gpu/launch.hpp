// Kernel launches through cudaLaunchKernelEx: no chevrons, so that a host compiler can read the
// code.
#pragma once

#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/error.hpp"
#include "diffbench/gpu/stream.hpp"

#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

namespace diffbench::gpu {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0; ///< dynamic shared memory a block
  bool cooperative = false;     ///< all blocks resident at once; grid-wide barriers allowed
};

/// Launches in stream order; does not block. Throws CudaError for what the launch itself refuses;
/// errors while the kernel runs are thrown by a later synchronisation.
template <typename... Parameters, typename... Arguments>
void launch(const Stream& stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream.get();
  cudaLaunchAttribute cooperative{};
  if (shape.cooperative) {
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    config.attrs = &cooperative;
    config.numAttrs = 1;
  }
  DIFFBENCH_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

/// Lets `kernel`, which has no other shared memory, use all the dynamic shared memory that `device`
/// gives a block; beyond 48 KiB it must be asked for. Always all of it: the limit belongs to the
/// kernel, and another session's launches need theirs.
template <typename... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), const Device& device) {
  DIFFBENCH_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(device.shared_bytes_per_block)));
}

/// How many blocks of `shape` a multiprocessor of the current device holds at once; 0: none.
template <typename... Parameters>
[[nodiscard]] int resident_blocks(void (*kernel)(Parameters...), const LaunchShape& shape) {
  int blocks = 0;
  DIFFBENCH_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, reinterpret_cast<const void*>(kernel),
      static_cast<int>(shape.block.x * shape.block.y * shape.block.z), shape.shared_bytes));
  return blocks;
}

} // namespace diffbench::gpu
