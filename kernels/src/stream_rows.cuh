// SPDX-License-Identifier: Apache-2.0
// One step with 16-byte accesses; each warp streams down some rows and keeps three of them in
// registers, so that every cell is loaded once (but for the first and last row of a warp's share).
// Horizontal neighbours come from the next lane by shuffle. No shared memory: staging a single step
// there only adds instructions.
#pragma once

#include "quads.cuh"
#include "step.cuh"

namespace diffbench::kernels {

template <typename T>
__device__ inline Quad<T> load_row(const T* in, const Grid<T>& grid, int x, int y) {
  Quad<T> quad;
  if (y < 0 || y >= grid.ny) {
    if (grid.boundary == Boundary::dirichlet) {
      for (T& cell : quad.cells) {
        cell = grid.constant;
      }
      return quad;
    }
    const bool wraps = grid.boundary == Boundary::periodic;
    y = (y < 0) == wraps ? grid.ny - 1 : 0;
  }
  load_quads(in + y * grid.pitch + x, quad.cells);
  return quad;
}

/// Blocks of (32, warps) threads; each warp advances `rows` rows of 32 quads. The pitch is a
/// multiple of a quad; what lies between nx and the pitch is read and written but never used.
template <typename T>
__global__ void stream_rows_step(Grid<T> grid, int rows, const T* in, T* out) {
  constexpr int count = Quad<T>::count;
  const int lane = static_cast<int>(threadIdx.x);
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x) * count;
  const int first = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) * rows;
  if (first >= grid.ny) {
    return; // the whole warp
  }
  const int last = min(first + rows, grid.ny);
  // Lanes beyond the row take part in the shuffles, so they read something that exists.
  const bool in_row = x < grid.nx;
  const int safe_x = in_row ? x : 0;

  Quad<T> above = load_row(in, grid, safe_x, first - 1);
  Quad<T> centre = load_row(in, grid, safe_x, first);
  for (int y = first; y < last; ++y) {
    const Quad<T> below = load_row(in, grid, safe_x, y + 1);
    T west = __shfl_up_sync(whole_warp, centre.cells[count - 1], 1);
    T east = __shfl_down_sync(whole_warp, centre.cells[0], 1);
    if (in_row && (lane == 0 || x == 0)) {
      west = cell_or_ghost(in, grid, x - 1, y);
    }
    if (in_row && lane == warp_lanes - 1 && x + count < grid.nx) {
      east = in[y * grid.pitch + x + count];
    }
    Quad<T> next;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const T lhs = i > 0 ? centre.cells[i > 0 ? i - 1 : 0] : west;
      T rhs = i + 1 < count ? centre.cells[i + 1 < count ? i + 1 : i] : east;
      if (x + i == grid.nx - 1) {
        rhs = cell_or_ghost(in, grid, grid.nx, y);
      }
      next.cells[i] = step(above.cells[i], below.cells[i], lhs, rhs, centre.cells[i], grid.factor);
    }
    if (in_row) {
      store_quads(next.cells, out + y * grid.pitch + x);
    }
    above = centre;
    centre = below;
  }
}

} // namespace diffbench::kernels
