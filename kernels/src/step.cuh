// SPDX-License-Identifier: Apache-2.0
// What every kernel shares: one cell's time step, and the cells beyond the grid.
//
// Kernels are plain CUDA C++ that a host compiler reads too (emulation/). They are compiled
// without contraction (-fmad=false); 4*u is exact, so fma(-4, u, s) has the bits of s - 4*u.
#pragma once

#include "grid.hpp"

#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

namespace diffbench::kernels {

template <typename T>
__device__ inline T step(T above, T below, T left, T right, T centre, T factor) {
  const T sum = above + below + left + right;
  const T lap = fma(T{-4}, centre, sum);
  return centre + factor * lap;
}

/// An index just beyond the grid (or anywhere) brought back into it, for Boundary::periodic. A
/// division costs as much as three steps of a cell, so it is left to grids smaller than a halo.
__device__ inline int wrap(int i, int n) {
  i = i < 0 ? i + n : (i >= n ? i - n : i);
  if (i < 0 || i >= n) {
    i %= n;
    i = i < 0 ? i + n : i;
  }
  return i;
}

/// Cell (x, y), at most one cell beyond the grid.
template <typename T>
__device__ inline T cell_or_ghost(const T* field, const Grid<T>& grid, int x, int y) {
  const bool inside = x >= 0 && x < grid.nx && y >= 0 && y < grid.ny;
  if (!inside) {
    if (grid.boundary == Boundary::dirichlet) {
      return grid.constant;
    }
    if (grid.boundary == Boundary::periodic) {
      x = x < 0 ? grid.nx - 1 : (x == grid.nx ? 0 : x);
      y = y < 0 ? grid.ny - 1 : (y == grid.ny ? 0 : y);
    } else {
      x = x < 0 ? 0 : (x == grid.nx ? grid.nx - 1 : x);
      y = y < 0 ? 0 : (y == grid.ny ? grid.ny - 1 : y);
    }
  }
  return field[y * grid.pitch + x];
}

} // namespace diffbench::kernels
