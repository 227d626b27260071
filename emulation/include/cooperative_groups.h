// Drop-in for cooperative_groups.h: the block, the cluster and the grid as groups.
#pragma once

#include "emulation/cluster_code.h"

#include <cuda_runtime.h>

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    diffbench::emulation::detail::block_barrier({file, line});
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
};

class grid_group {
 public:
  static bool is_valid() { return diffbench::emulation::detail::grid_is_cooperative(); }
  /// In a launch that is not cooperative: a report and a fault.
  static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    diffbench::emulation::detail::grid_barrier({file, line});
  }
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

  static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    barrier_arrive(file, line);
    barrier_wait(file, line);
  }
  static arrival_token barrier_arrive(const char* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) {
    diffbench::emulation::detail::cluster_arrive({file, line});
    return {};
  }
  static void barrier_wait(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    diffbench::emulation::detail::cluster_wait({file, line});
  }
  static void barrier_wait(arrival_token&&, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
    barrier_wait(file, line);
  }
  template <typename T>
  static T* map_shared_rank(T* address, int rank, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    return static_cast<T*>(diffbench::emulation::detail::map_shared(
        address, static_cast<unsigned>(rank), {file, line}));
  }
  static unsigned block_rank() { return diffbench::emulation::detail::cluster_block_rank(); }
  static unsigned num_blocks() { return diffbench::emulation::detail::cluster_blocks(); }
  static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
};

inline thread_block this_thread_block() { return {}; }
inline cluster_group this_cluster() { return {}; }
inline grid_group this_grid() { return {}; }

inline void sync(const thread_block&, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  thread_block::sync(file, line);
}
inline void sync(const grid_group&, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  grid_group::sync(file, line);
}

} // namespace cooperative_groups
