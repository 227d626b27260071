// SPDX-License-Identifier: Apache-2.0
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

/// Cells of the grid: from `left` and `top` to before `right` and `bottom`.
struct Area {
  int left, top, right, bottom;
};

/// The patch of a thread in a tile, in cells, and the most threads of a block.
template <typename T>
inline constexpr int patch_width = 16 / sizeof(T);
inline constexpr int patch_height = 4;
inline constexpr int most_tile_threads = 512;

/// 12 bytes of a patch, and which exchange they are of.
struct alignas(16) Packet {
  unsigned words[3];
  unsigned number;
};
inline constexpr int packets_of_patch = 6;

/// Where numbered halos are exchanged (numbered_halos.cuh): two sets of packets_of_patch planes,
/// each with a packet of every patch of the grid.
struct PacketBuffers {
  Packet* packets;
  int patches_x; ///< side by side
  int patches;
};

/// Where a block's region lies, and what of it is its own tile.
struct TileShape {
  int depth;      ///< halo on each side, in cells: the most steps between two loads
  int tile_width; ///< cells of the region less both halos
  int tile_height;
  int tiles_x; ///< across the area
};

/// How an area is divided among the warps of streamed_steps.
struct StripShape {
  int strips_x;       ///< side by side
  int rows;           ///< of a strip
  bool wraps_columns; ///< the area is as wide as a periodic grid, and its rows are whole quads
};

/// Steps of a launch of streamed_steps, and the least distance of its area from an edge of the grid
/// that it knows nothing of.
inline constexpr int streamed_depth = 8;

inline constexpr int warp_lanes = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// 16 bytes of cells: the widest access of a thread.
template <typename T>
struct alignas(16) Quad {
  static constexpr int count = 16 / sizeof(T);
  T cells[count];
};

/// The strip of a warp of streamed_steps: quads of a row in a lane, columns on each side that are
/// loaded and not stored, and columns that are stored.
inline constexpr int strip_quads = 2;
template <typename T>
inline constexpr int strip_halo =
    (streamed_depth + Quad<T>::count - 1) / Quad<T>::count* Quad<T>::count;
template <typename T>
inline constexpr int strip_width = warp_lanes* strip_quads* Quad<T>::count - 2 * strip_halo<T>;

/// Blocks of `size` that cover `extent`.
inline unsigned blocks(std::int64_t extent, std::int64_t size) {
  return static_cast<unsigned>((extent + size - 1) / size);
}

} // namespace diffbench::kernels
