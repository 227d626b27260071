// SPDX-License-Identifier: Apache-2.0
// Which exchange each tile has stored its ring for, in the place of a barrier across the grid: a
// tile waits only for the tiles whose cells its halo holds. They are also those that read its ring,
// so when it has waited for exchange n, all of them have loaded what exchange n - 1 left.
#pragma once

#include "step.cuh"

#include <cuda_runtime.h>

namespace diffbench::kernels {

class NeighbourFlags {
 public:
  /// Of the tile of this block. `flags`: one a tile, 0 before the first exchange.
  template <typename T>
  __device__ NeighbourFlags(const Grid<T>& grid, const TileShape& shape, unsigned* flags)
      : flags_(flags), tiles_x_(shape.tiles_x) {
    const bool periodic = grid.boundary == Boundary::periodic;
    const int tile = static_cast<int>(blockIdx.x);
    columns_ = near(tile % tiles_x_, shape.tile_width, shape.depth, grid.nx, periodic);
    rows_ = near(tile / tiles_x_, shape.tile_height, shape.depth, grid.ny, periodic);
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    threads_ = static_cast<int>(blockDim.x * blockDim.y);
    is_first_ = thread == 0;
    // From the last thread on: the first one's warp waits for its stores.
    watched_ = threads_ - 1 - thread;
    flag_ = watched_ < neighbours() ? flag_of(watched_) : nullptr;
  }

  /// Exchange `number`, 1 for the first: what the block has stored until now can be loaded by its
  /// neighbours, and what they have stored by it. All threads of the block must call it; blocks
  /// until the neighbours do, so that all must be resident.
  __device__ void exchange(unsigned number) const {
    __syncthreads();
    if (is_first_) {
      __nv_atomic_store_n(flags_ + blockIdx.x, number, __NV_ATOMIC_RELEASE,
                          __NV_THREAD_SCOPE_DEVICE);
    }
    if (flag_ != nullptr) {
      wait_for(flag_, number);
      // More neighbours than threads: of tiles that are narrower than a halo.
      for (int i = watched_ + threads_; i < neighbours(); i += threads_) {
        wait_for(flag_of(i), number);
      }
    }
    __syncthreads();
  }

 private:
  /// Tiles one after the other along x or y, perhaps round the end of the grid.
  struct Span {
    int first, count, tiles;
    __device__ int tile(int i) const {
      const int tile = first + i;
      return tile < tiles ? tile : tile - tiles;
    }
  };

  /// Those with cells less than `depth` from those of `tile`, which is `size` wide but for the
  /// last.
  static __device__ Span near(int tile, int size, int depth, int extent, bool periodic) {
    const int tiles = (extent + size - 1) / size;
    const int begin = tile * size - depth;
    const int end = min((tile + 1) * size, extent) + depth;
    if (!periodic) {
      const int first = max(begin, 0) / size;
      return {first, (min(end, extent) - 1) / size - first + 1, tiles};
    }
    if (end - begin >= extent) {
      return {0, tiles, tiles};
    }
    const int from = wrap(begin, extent);
    const int to = wrap(end - 1, extent);
    const int count = to / size - from / size + (to < from ? tiles : 0) + 1;
    return {from / size, min(count, tiles), tiles};
  }

  __device__ int neighbours() const { return columns_.count * rows_.count; }
  __device__ unsigned* flag_of(int i) const {
    return flags_ + rows_.tile(i / columns_.count) * tiles_x_ + columns_.tile(i % columns_.count);
  }
  /// They are an exchange ahead at most; numbers may overflow.
  static __device__ void wait_for(unsigned* flag, unsigned number) {
    while (static_cast<int>(
               __nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) - number) <
           0) {
    }
  }

  unsigned* flags_;
  int tiles_x_;
  int threads_;
  bool is_first_;  ///< of the block's threads
  int watched_;    ///< which of the neighbours this thread waits for, the first of them
  unsigned* flag_; ///< that one's; null: for none
  Span columns_;
  Span rows_;
};

} // namespace diffbench::kernels
