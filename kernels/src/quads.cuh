// SPDX-License-Identifier: Apache-2.0
// Cells in registers, read and written by quads: 16 bytes an access.
#pragma once

#include "grid.hpp"

#include <cstdint>

#include <cuda_runtime.h>

namespace diffbench::kernels {

/// As many whole quads as `cells` holds, each `stride` quads behind the one before. `from` must be
/// aligned to 16 bytes; a device stops at another address, and so does the emulation.
template <typename T, int N>
__device__ inline void load_quads(const T* from, T (&cells)[N], int stride = 1) {
  constexpr int count = Quad<T>::count;
  static_assert(N % count == 0);
#if defined(DIFFBENCH_EMULATED_CUDA)
  emulated_wide_access(from);
#endif
#pragma unroll
  for (int q = 0; q < N / count; ++q) {
    const Quad<T> quad = reinterpret_cast<const Quad<T>*>(from)[q * stride];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      cells[q * count + i] = quad.cells[i];
    }
  }
}

/// The same the other way.
template <typename T, int N>
__device__ inline void store_quads(const T (&cells)[N], T* to, int stride = 1) {
  constexpr int count = Quad<T>::count;
  static_assert(N % count == 0);
#if defined(DIFFBENCH_EMULATED_CUDA)
  emulated_wide_access(to);
#endif
#pragma unroll
  for (int q = 0; q < N / count; ++q) {
    Quad<T> quad;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      quad.cells[i] = cells[q * count + i];
    }
    reinterpret_cast<Quad<T>*>(to)[q * stride] = quad;
  }
}

} // namespace diffbench::kernels
