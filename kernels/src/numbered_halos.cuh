// SPDX-License-Identifier: Apache-2.0
// Halos whose data are their own flag: each 16 bytes hold twelve bytes of cells and the number of
// the exchange, stored and loaded as one. Who finds the number has the cells: no fence, no flag
// after them, no barrier, and one trip through L2 instead of three. (NCCL's LL protocol does it
// with 8 bytes.)
//
// Atomic as a whole are accesses of type b128 from sm_70 on (CUDA C++ Programming Guide, "Atomic
// Functions", and libcu++, "atomic_ref"; one of v4.b32 is not). Two buffers take turns: why a slow
// block cannot miss what it waits for stands in docs/decisions.md.
#pragma once

#include "register_tile.cuh"

#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

namespace diffbench::kernels {

template <typename T>
class NumberedHalos {
 public:
  /// Of this thread's patch of `tile`. No packet of `buffers` has a number of the exchanges to
  /// come.
  __device__ NumberedHalos(const RegisterTile<T>& tile, const PacketBuffers& buffers)
      : sends_(tile.is_in_ring()),
        receives_(tile.is_in_halo()),
        plane_(buffers.patches),
        packets_(buffers.packets) {
    if (sends_ || receives_) { // no other need lie in the grid
      packets_ += tile.row_in_grid() / patch_height * buffers.patches_x +
                  tile.column_in_grid() / patch_width<T>;
    }
  }

  /// Exchange `number`: the next number each time. Blocks until the patch's owner has sent it, so
  /// that all blocks must be resident. Between two of them the block must have met at a barrier.
  __device__ void exchange(unsigned number, T (&cells)[patch_height][patch_width<T>]) const {
    Packet* const at = packets_ + (number % 2 == 0 ? 0 : packets_of_patch * plane_);
    if (sends_) {
      send(number, cells, at);
    }
    if (receives_) {
      receive(number, cells, at);
    }
  }

 private:
  static constexpr int words_of_patch = 16;
  static_assert(sizeof(T) * patch_height * patch_width<T> == words_of_patch * 4);

  __device__ void send(unsigned number, const T (&cells)[patch_height][patch_width<T>],
                       Packet* at) const {
    unsigned words[packets_of_patch * 3] = {};
    std::memcpy(words, cells, sizeof cells);
#pragma unroll
    for (int i = 0; i < packets_of_patch; ++i) {
      Packet packet{{words[3 * i], words[3 * i + 1], words[3 * i + 2]}, number};
      __nv_atomic_store(at + i * plane_, &packet, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
  }

  // All packets each time: their trips overlap.
  __device__ void receive(unsigned number, T (&cells)[patch_height][patch_width<T>],
                          Packet* at) const {
    Packet packets[packets_of_patch];
    bool complete = false;
    while (!complete) {
      complete = true;
#pragma unroll
      for (int i = 0; i < packets_of_patch; ++i) {
        __nv_atomic_load(at + i * plane_, &packets[i], __NV_ATOMIC_RELAXED,
                         __NV_THREAD_SCOPE_DEVICE);
      }
#pragma unroll
      for (int i = 0; i < packets_of_patch; ++i) {
        complete = complete && packets[i].number == number;
      }
    }
    unsigned words[packets_of_patch * 3];
#pragma unroll
    for (int i = 0; i < packets_of_patch * 3; ++i) {
      words[i] = packets[i / 3].words[i % 3];
    }
    std::memcpy(cells, words, sizeof cells);
  }

  bool sends_;
  bool receives_;
  int plane_;       ///< packets from one of a patch to the next, whose neighbours' lie between
  Packet* packets_; ///< of no patch in threads that neither send nor receive
};

} // namespace diffbench::kernels
