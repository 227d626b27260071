// SPDX-License-Identifier: Apache-2.0
// One step, one cell a thread, neighbours fetched one by one.
#pragma once

#include "step.cuh"

namespace diffbench::kernels {

/// Advances the rows from `first_row` on that the blocks of the launch cover.
template <typename T>
__global__ void naive_step(Grid<T> grid, int first_row, const T* in, T* out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = first_row + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= grid.nx || y >= grid.ny) {
    return;
  }
  const T centre = in[y * grid.pitch + x];
  out[y * grid.pitch + x] = step(
      cell_or_ghost(in, grid, x, y - 1), cell_or_ghost(in, grid, x, y + 1),
      cell_or_ghost(in, grid, x - 1, y), cell_or_ghost(in, grid, x + 1, y), centre, grid.factor);
}

} // namespace diffbench::kernels
