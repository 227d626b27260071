// SPDX-License-Identifier: Apache-2.0
// The blocks of a cluster as a kernel sees them: their barrier, and each other's shared memory.
// Code for cards without clusters (before sm_90) has clusters of one block.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace diffbench::gpu {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ inline int cluster_rank() {
  return static_cast<int>(cooperative_groups::this_cluster().block_rank());
}
/// Of all threads of all blocks; what they wrote to shared memory, each other's too, is then seen.
__device__ inline void cluster_barrier() { cooperative_groups::this_cluster().sync(); }
/// The same in two halves: what is done between them is not waited for.
__device__ inline void cluster_arrive() { cooperative_groups::this_cluster().barrier_arrive(); }
__device__ inline void cluster_wait() { cooperative_groups::this_cluster().barrier_wait(); }
/// Where block `rank` has what lies at `own` in this block's shared memory. It may be touched
/// between the first and the last barrier that both blocks meet.
template <typename T>
__device__ T* shared_of(T* own, int rank) {
  return cooperative_groups::this_cluster().map_shared_rank(own, rank);
}
#else
__device__ inline int cluster_rank() { return 0; }
__device__ inline void cluster_barrier() { __syncthreads(); }
__device__ inline void cluster_arrive() {}
__device__ inline void cluster_wait() { __syncthreads(); }
template <typename T>
__device__ T* shared_of(T* own, int) {
  return own;
}
#endif

} // namespace diffbench::gpu
