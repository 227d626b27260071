// Kernel launches through cudaLaunchKernelEx: no chevrons, so that a host compiler can read the
// code.
#pragma once

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

/// Lets `kernel` use `bytes` of dynamic shared memory, which beyond 48 KiB must be asked for.
template <typename... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  DIFFBENCH_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)));
}

} // namespace diffbench::gpu
