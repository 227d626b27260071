// SPDX-License-Identifier: Apache-2.0
// One time step in Thrust's algorithms, written once for all its systems: the policy says whether
// it runs on the GPU (thrust::cuda) or on the threads of the host (thrust::omp).
//
// The namespace alias stands for whatever namespace this Thrust lives in: the host's has one of its
// own (kernels/CMakeLists.txt). All functions are templates over the policy, whose type is
// different in every system, so no two programs' parts share one of them by accident.
#pragma once

#include "grid.hpp"

#include <cstdint>

#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>

#if defined(__CUDACC__)
#define DIFFBENCH_HOST_DEVICE __host__ __device__
#else
#define DIFFBENCH_HOST_DEVICE
#endif

namespace diffbench::kernels {

namespace thrust = THRUST_NS_QUALIFIER;

/// A coordinate at most one beyond [0, n), brought back into it.
DIFFBENCH_HOST_DEVICE inline std::int64_t source_of(std::int64_t i, std::int64_t n,
                                                    Boundary boundary) {
  if (boundary == Boundary::periodic) {
    return i < 0 ? n - 1 : (i == n ? 0 : i);
  }
  return i < 0 ? 0 : (i == n ? n - 1 : i);
}

/// Ghost cell k of a ghosted field: the row above with its corners, the row below, then the left
/// and the right ghost of each row. Corners are never read for a cell of the grid, but they lie
/// between two rows of the flat array.
template <typename T>
struct FillGhost {
  Grid<T> grid;
  T* field;

  [[nodiscard]] std::int64_t count() const { return 2 * (grid.nx + std::int64_t{2}) + 2 * grid.ny; }

  DIFFBENCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t width = grid.nx + std::int64_t{2};
    std::int64_t x = 0;
    std::int64_t y = 0;
    if (k < 2 * width) {
      y = k < width ? -1 : grid.ny;
      x = (k < width ? k : k - width) - 1;
    } else {
      k -= 2 * width;
      y = k < grid.ny ? k : k - grid.ny;
      x = k < grid.ny ? -1 : grid.nx;
    }
    const std::int64_t source =
        source_of(y, grid.ny, grid.boundary) * grid.pitch + source_of(x, grid.nx, grid.boundary);
    field[y * grid.pitch + x] =
        grid.boundary == Boundary::dirichlet ? grid.constant : field[source];
  }
};

/// Cell i of the next state, counted along the flat array: neighbours lie one cell or one row off.
template <typename T>
struct NextCell {
  const T* field;
  std::int64_t pitch;
  T factor;

  DIFFBENCH_HOST_DEVICE T operator()(std::int64_t i) const {
    const T* const cell = field + i;
    const T lap = cell[-pitch] + cell[pitch] + cell[-1] + cell[1] - T{4} * *cell;
    return *cell + factor * lap;
  }
};

/// Fills the ghost cells of `now`, then computes `next` in one pass. Both are cell (0, 0) of a
/// ghosted field. The ghost cells between two rows take part and come out as garbage, which the
/// next filling overwrites: that leaves no index arithmetic in the pass.
template <typename Policy, typename T>
void fused_step(const Policy& policy, const Grid<T>& grid, T* now, T* next) {
  const FillGhost<T> fill{grid, now};
  const thrust::counting_iterator<std::int64_t> first(0);
  thrust::for_each(policy, first, first + fill.count(), fill);
  const std::int64_t flat = grid.ny * grid.pitch - 2;
  thrust::tabulate(policy, next, next + flat, NextCell<T>{now, grid.pitch, grid.factor});
}

/// Cell i of np.roll(field, -dy, 0) or np.roll(field, -dx, 1) in a dense field, or of the same with
/// ghost cells beyond the edges.
template <typename T>
struct RolledCell {
  Grid<T> grid;
  const T* field;
  int dx;
  int dy;

  DIFFBENCH_HOST_DEVICE T operator()(std::int64_t i) const {
    const std::int64_t row = i / grid.nx;
    const std::int64_t x = i - row * grid.nx + dx;
    const std::int64_t y = row + dy;
    const bool inside = x >= 0 && x < grid.nx && y >= 0 && y < grid.ny;
    if (grid.boundary == Boundary::dirichlet && !inside) {
      return grid.constant;
    }
    return field[source_of(y, grid.ny, grid.boundary) * grid.pitch +
                 source_of(x, grid.nx, grid.boundary)];
  }
};

template <typename T>
struct Times {
  T constant;
  DIFFBENCH_HOST_DEVICE T operator()(T value) const { return constant * value; }
};

/// The NumPy line, operation by operation, each a pass over the field. All arrays are dense;
/// `rolled` and `lap` are its temporaries.
template <typename Policy, typename T>
void roll_step(const Policy& policy, const Grid<T>& grid, const T* now, T* next, T* rolled,
               T* lap) {
  const std::int64_t cells = grid.ny * grid.pitch;
  const auto roll = [&](T* out, int dx, int dy) {
    thrust::tabulate(policy, out, out + cells, RolledCell<T>{grid, now, dx, dy});
  };
  const auto add_rolled = [&](int dx, int dy) {
    roll(rolled, dx, dy);
    thrust::transform(policy, lap, lap + cells, rolled, lap, thrust::plus<T>{});
  };
  roll(lap, 0, -1);
  add_rolled(0, +1);
  add_rolled(-1, 0);
  add_rolled(+1, 0);
  thrust::transform(policy, now, now + cells, rolled, Times<T>{T{4}});
  thrust::transform(policy, lap, lap + cells, rolled, lap, thrust::minus<T>{});
  thrust::transform(policy, lap, lap + cells, lap, Times<T>{grid.factor});
  thrust::transform(policy, now, now + cells, lap, next, thrust::plus<T>{});
}

} // namespace diffbench::kernels
