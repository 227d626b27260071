// SPDX-License-Identifier: Apache-2.0
// The kernels over register_tile.cuh: several steps a launch, and any number of steps a launch.
#pragma once

#include "diffbench/gpu/dynamic_shared.cuh"
#include "neighbour_flags.cuh"
#include "numbered_halos.cuh"
#include "register_tile.cuh"

namespace diffbench::kernels {

/// The tile of this block. Tiles are numbered along blockIdx.x, row after row: in y a launch has
/// 65535 blocks at most.
template <typename T>
__device__ RegisterTile<T> tile_of_block(const Grid<T>& grid, const Area& area,
                                         const TileShape& shape) {
  const int number = static_cast<int>(blockIdx.x);
  return {grid,
          area,
          shape,
          area.left + number % shape.tiles_x * shape.tile_width,
          area.top + number / shape.tiles_x * shape.tile_height,
          gpu::dynamic_shared()};
}

/// Advances every tile of `area` by `steps` <= shape.depth, from `in` to `out`. One block a tile.
template <typename T>
__global__ void __launch_bounds__(most_tile_threads, 1)
    blocked_steps(const __grid_constant__ Grid<T> grid, Area area, TileShape shape, int steps,
                  const T* in, T* out) {
  auto tile = tile_of_block<T>(grid, area, shape);
  tile.load(in);
  tile.advance(steps);
  tile.store(out);
}

/// Advances every tile by `steps`, any number, in one cooperative launch: the field stays in
/// registers, and every shape.depth steps the blocks exchange the rings of their tiles through `a`
/// and `b` in turn. The initial field is read from `a`. With E exchanges, ceil(steps/depth) - 1,
/// the result is in `b` when E is even and in `a` when it is odd. `flags`: a 0 for each tile.
template <typename T>
__global__ void __launch_bounds__(most_tile_threads, 1)
    persistent_steps(const __grid_constant__ Grid<T> grid, TileShape shape, std::int64_t steps,
                     T* a, T* b, unsigned* flags) {
  const NeighbourFlags neighbours(grid, shape, flags);
  auto tile = tile_of_block<T>(grid, Area{0, 0, grid.nx, grid.ny}, shape);
  tile.load_near(a);
  T* target = b;
  T* other = a;
  unsigned exchanges = 0;
  while (steps > shape.depth) {
    tile.advance(shape.depth);
    steps -= shape.depth;
    tile.store_ring(target);
    neighbours.exchange(++exchanges);
    tile.load_halo(target);
    T* const swap = target;
    target = other;
    other = swap;
  }
  tile.advance(static_cast<int>(steps));
  tile.store(target);
}

/// The same from `in` to `out` with numbered halos (numbered_halos.cuh) in `buffers`, where no
/// packet has a number of this launch yet: `number` and up, each exchange one. Depth, and in a
/// periodic grid also its sides, must be multiples of a patch's.
template <typename T>
__global__ void __launch_bounds__(most_tile_threads, 1)
    numbered_steps(const __grid_constant__ Grid<T> grid, TileShape shape, std::int64_t steps,
                   const T* in, T* out, PacketBuffers buffers, unsigned number) {
  auto tile = tile_of_block<T>(grid, Area{0, 0, grid.nx, grid.ny}, shape);
  const NumberedHalos<T> halos(tile, buffers);
  tile.load(in);
  while (steps > shape.depth) {
    tile.advance(shape.depth);
    steps -= shape.depth;
    halos.exchange(number, tile.cells());
    ++number;
  }
  tile.advance(static_cast<int>(steps));
  tile.store(out);
}

} // namespace diffbench::kernels
