// The grid as kernels see it.
#pragma once

#include "diffbench/problem.hpp"

#include <cstdint>

namespace diffbench::kernels {

/// Plain data, passed by value. Cell (x, y) of a field lies at y * pitch + x.
template <typename T>
struct Grid {
  int nx;
  int ny;
  std::int64_t pitch; ///< cells from one row to the next
  Boundary boundary;
  T constant; ///< ghost cells under Boundary::dirichlet
  T factor;
};

template <typename T>
[[nodiscard]] Grid<T> grid_of(const Problem& problem, std::int64_t pitch) {
  return {.nx = static_cast<int>(problem.nx), // max_extent fits
          .ny = static_cast<int>(problem.ny),
          .pitch = pitch,
          .boundary = problem.boundary,
          .constant = static_cast<T>(problem.boundary_value),
          .factor = problem.update_factor<T>()};
}

} // namespace diffbench::kernels
