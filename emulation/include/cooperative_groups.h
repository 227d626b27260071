// SPDX-License-Identifier: Apache-2.0
// Drop-in for cooperative_groups.h: the block, its tiles, the cluster and the grid as groups.
#pragma once

#include "emulation/cluster_code.h"

#include <cuda_runtime.h>

#define DIFFBENCH_SITE \
  diffbench::emulation::detail::Site site = {__builtin_FILE(), __builtin_LINE()}

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(DIFFBENCH_SITE) { diffbench::emulation::detail::block_barrier(site); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

/// `Size` threads of a block that follow one another: a warp, or an equal part of one.
template <unsigned Size, typename Parent = thread_block>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "tiles have 1, 2, 4, 8, 16 or 32 threads");

 public:
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static unsigned meta_group_rank() { return Parent::thread_rank() / Size; }
  static unsigned meta_group_size() { return (Parent::num_threads() + Size - 1) / Size; }

  static void sync(DIFFBENCH_SITE) { __syncwarp(mask(), site); }
  template <typename T>
  static T shfl(T value, int source, DIFFBENCH_SITE) {
    return __shfl_sync(mask(), value, source, Size, site);
  }
  template <typename T>
  static T shfl_up(T value, unsigned delta, DIFFBENCH_SITE) {
    return __shfl_up_sync(mask(), value, delta, Size, site);
  }
  template <typename T>
  static T shfl_down(T value, unsigned delta, DIFFBENCH_SITE) {
    return __shfl_down_sync(mask(), value, delta, Size, site);
  }
  template <typename T>
  static T shfl_xor(T value, unsigned lane_mask, DIFFBENCH_SITE) {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), Size, site);
  }
  static int any(int predicate, DIFFBENCH_SITE) { return __any_sync(mask(), predicate, site); }
  static int all(int predicate, DIFFBENCH_SITE) { return __all_sync(mask(), predicate, site); }
  /// Bit i: the thread with rank i in the tile.
  static unsigned ballot(int predicate, DIFFBENCH_SITE) {
    return __ballot_sync(mask(), predicate, site) >> first_lane();
  }

 private:
  static unsigned first_lane() { return thread_block::thread_rank() % 32 / Size * Size; }
  static unsigned mask() { return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << first_lane(); }
};

class grid_group {
 public:
  static bool is_valid() { return diffbench::emulation::detail::grid_is_cooperative(); }
  /// In a launch that is not cooperative: a report and a fault.
  static void sync(DIFFBENCH_SITE) { diffbench::emulation::detail::grid_barrier(site); }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
};

class cluster_group {
 public:
  struct arrival_token {};

  static void sync(DIFFBENCH_SITE) {
    barrier_arrive(site);
    barrier_wait(site);
  }
  static arrival_token barrier_arrive(DIFFBENCH_SITE) {
    diffbench::emulation::detail::cluster_arrive(site);
    return {};
  }
  static void barrier_wait(DIFFBENCH_SITE) { diffbench::emulation::detail::cluster_wait(site); }
  static void barrier_wait(arrival_token&&, DIFFBENCH_SITE) { barrier_wait(site); }
  template <typename T>
  static T* map_shared_rank(T* address, int rank, DIFFBENCH_SITE) {
    return static_cast<T*>(
        diffbench::emulation::detail::map_shared(address, static_cast<unsigned>(rank), site));
  }
  static unsigned block_rank() { return diffbench::emulation::detail::cluster_block_rank(); }
  static unsigned num_blocks() { return diffbench::emulation::detail::cluster_blocks(); }
  static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
};

/// Any of these but a cluster, known when the program runs.
class thread_group {
 public:
  thread_group(const thread_block&) : tile_(0) {}
  template <unsigned Size, typename Parent>
  thread_group(const thread_block_tile<Size, Parent>&) : tile_(Size) {}
  explicit thread_group(unsigned tile) : tile_(tile) {}

  [[nodiscard]] unsigned size() const { return tile_ == 0 ? thread_block::size() : tile_; }
  [[nodiscard]] unsigned num_threads() const { return size(); }
  [[nodiscard]] unsigned thread_rank() const { return thread_block::thread_rank() % size(); }
  void sync(DIFFBENCH_SITE) const {
    if (tile_ == 0) {
      thread_block::sync(site);
    } else {
      const unsigned lanes = tile_ == 32 ? ~0u : (1u << tile_) - 1;
      __syncwarp(lanes << thread_block::thread_rank() % 32 / tile_ * tile_, site);
    }
  }

 private:
  unsigned tile_; ///< threads of a part of a warp; 0: the block
};

inline thread_group tiled_partition(const thread_group&, unsigned size) {
  return thread_group(size);
}
inline void sync(const thread_group& group, DIFFBENCH_SITE) { group.sync(site); }

inline thread_block this_thread_block() { return {}; }
template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
inline cluster_group this_cluster() { return {}; }
inline grid_group this_grid() { return {}; }

inline void sync(const thread_block&, DIFFBENCH_SITE) { thread_block::sync(site); }
template <unsigned Size, typename Parent>
void sync(const thread_block_tile<Size, Parent>&, DIFFBENCH_SITE) {
  thread_block_tile<Size, Parent>::sync(site);
}
inline void sync(const grid_group&, DIFFBENCH_SITE) { grid_group::sync(site); }

} // namespace cooperative_groups
#undef DIFFBENCH_SITE
