// The grid, and its tiles, as kernels and those who launch them see them. nvcc reads this for every
// kernel: plain data only.
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

/// Where a block's region lies, and what of it is its own tile.
struct TileShape {
  int depth;      ///< halo on each side, in cells: the most steps between two loads
  int tile_width; ///< cells of the region less both halos
  int tile_height;
  int tiles_x; ///< across the grid
};

inline constexpr int warp_lanes = 32;

/// 16 bytes of cells: the widest access of a thread.
template <typename T>
struct alignas(16) Quad {
  static constexpr int count = 16 / sizeof(T);
  T cells[count];
};

/// Blocks of `size` that cover `extent`.
inline unsigned blocks(std::int64_t extent, std::int64_t size) {
  return static_cast<unsigned>((extent + size - 1) / size);
}

} // namespace diffbench::kernels
