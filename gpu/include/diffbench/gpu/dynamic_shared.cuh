// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory of a kernel, in the one form that nvcc and the emulation both have.
#pragma once

#include <cuda_runtime.h>

namespace diffbench::gpu {

#if defined(DIFFBENCH_EMULATED_CUDA)
/// The block's dynamic shared memory.
inline void* dynamic_shared() { return emulated_dynamic_shared(); }
#else
__device__ inline void* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];
  return dynamic_shared_memory;
}
#endif

} // namespace diffbench::gpu
