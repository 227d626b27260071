// Many time steps of a tile of the grid, held in registers: the core of cuda_blocked and
// cuda_persistent.
//
// A block of bx by by threads holds a region of (bx*PX) by (by*PY) cells; each thread a patch of PX
// by PY in registers. A step needs of the neighbouring patches only their nearest row or column:
// these edges go through shared memory, two sets in turn, so that one barrier a step is enough.
// The region is the tile that the block owns plus a halo; what the edge of the region lacks spoils
// one cell a step, so after `depth` steps with a halo of `depth` cells the tile is still right.
// (Overlapped temporal blocking: Holewinski et al., ICS 2012; register blocking as in AN5D, CGO
// 2020.)
#pragma once

#include "step.cuh"

#include <cstdint>

#include <cuda_runtime.h>

namespace diffbench::kernels {

template <typename T, int PX, int PY>
class RegisterTile {
 public:
  /// The tile with its first cell at (tile_x, tile_y).
  __device__ RegisterTile(const Grid<T>& grid, const TileShape& shape, int tile_x, int tile_y,
                          void* shared)
      : grid_(grid),
        edges_(static_cast<Quad<T>*>(shared)),
        threads_(static_cast<int>(blockDim.x * blockDim.y)),
        thread_(static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x)),
        x_(tile_x - shape.depth + static_cast<int>(threadIdx.x) * PX),
        y_(tile_y - shape.depth + static_cast<int>(threadIdx.y) * PY),
        tile_left_(tile_x),
        tile_top_(tile_y),
        tile_right_(min(tile_x + shape.tile_width, grid.nx)),
        tile_bottom_(min(tile_y + shape.tile_height, grid.ny)) {
    const int region_x = tile_x - shape.depth;
    const int region_y = tile_y - shape.depth;
    meets_edge_ =
        grid.boundary != Boundary::periodic &&
        (region_x < 0 || region_y < 0 || region_x + static_cast<int>(blockDim.x) * PX > grid.nx ||
         region_y + static_cast<int>(blockDim.y) * PY > grid.ny);
  }

  /// Loads the patch. With `only_halo`, cells of the tile keep what the registers hold.
  __device__ void load(const T* field, bool only_halo = false) {
    // Ghost cells of the periodic grid are loaded, the others made up at each step. Indices are
    // brought back into the grid once a row and column: a division costs as much as three steps of
    // a cell.
    const bool periodic = grid_.boundary == Boundary::periodic;
    int columns[PX];
#pragma unroll
    for (int i = 0; i < PX; ++i) {
      columns[i] = periodic ? wrap(x_ + i, grid_.nx) : x_ + i;
    }
#pragma unroll
    for (int j = 0; j < PY; ++j) {
      const int row = periodic ? wrap(y_ + j, grid_.ny) : y_ + j;
#pragma unroll
      for (int i = 0; i < PX; ++i) {
        if (only_halo && in_tile(x_ + i, y_ + j)) {
          continue;
        }
        const bool inside = row >= 0 && row < grid_.ny && columns[i] >= 0 && columns[i] < grid_.nx;
        cells_[j][i] = inside ? field[row * grid_.pitch + columns[i]] : grid_.constant;
      }
    }
  }

  /// Stores the cells of the tile; with `ring` > 0 only those fewer than `ring` cells from its
  /// edge, which is all that a neighbour reads.
  __device__ void store(T* field, int ring = 0) const {
#pragma unroll
    for (int j = 0; j < PY; ++j) {
#pragma unroll
      for (int i = 0; i < PX; ++i) {
        const int x = x_ + i;
        const int y = y_ + j;
        if (in_tile(x, y) && (ring == 0 || x < tile_left_ + ring || x >= tile_right_ - ring ||
                              y < tile_top_ + ring || y >= tile_bottom_ - ring)) {
          field[y * grid_.pitch + x] = cells_[j][i];
        }
      }
    }
  }

  /// Advances the region by `steps`, at most the shape's depth since the last load. All threads of
  /// the block must call it.
  __device__ void advance(int steps) {
    if (meets_edge_) {
      for (int s = 0; s < steps; ++s) {
        advance_once<true>();
      }
    } else {
      for (int s = 0; s < steps; ++s) {
        advance_once<false>();
      }
    }
  }

 private:
  __device__ bool in_tile(int x, int y) const {
    return x >= tile_left_ && x < tile_right_ && y >= tile_top_ && y < tile_bottom_;
  }

  // The edges of all patches lie in shared memory in planes of 16 bytes a thread: accesses are
  // wide, and neighbouring threads' free of bank conflicts. An edge of N cells takes quads<N>
  // planes.
  template <int N>
  static constexpr int quads = N / Quad<T>::count;
  static constexpr int top_plane = 0;
  static constexpr int bottom_plane = quads<PX>;
  static constexpr int left_plane = 2 * quads<PX>;
  static constexpr int right_plane = left_plane + quads<PY>;
  static constexpr int planes = right_plane + quads<PY>;
  static_assert(PX % Quad<T>::count == 0 && PY % Quad<T>::count == 0);

  __device__ Quad<T>* place(int plane, int thread) const {
    return edges_ + set_ + plane * threads_ + thread;
  }
  template <int N>
  __device__ void put_edge(int plane, const T (&edge)[N]) {
#pragma unroll
    for (int q = 0; q < quads<N>; ++q) {
      Quad<T> quad;
#pragma unroll
      for (int i = 0; i < Quad<T>::count; ++i) {
        quad.cells[i] = edge[q * Quad<T>::count + i];
      }
      *place(plane + q, thread_) = quad;
    }
  }
  template <int N>
  __device__ void get_edge(int plane, int thread, T (&edge)[N]) const {
#pragma unroll
    for (int q = 0; q < quads<N>; ++q) {
      const Quad<T> quad = *place(plane + q, thread);
#pragma unroll
      for (int i = 0; i < Quad<T>::count; ++i) {
        edge[q * Quad<T>::count + i] = quad.cells[i];
      }
    }
  }

  template <bool MeetsEdge>
  __device__ void advance_once() {
    T west[PY]; // first what this thread gives, then what it gets
    T east[PY];
#pragma unroll
    for (int j = 0; j < PY; ++j) {
      west[j] = cells_[j][0];
      east[j] = cells_[j][PX - 1];
    }
    put_edge(top_plane, cells_[0]);
    put_edge(bottom_plane, cells_[PY - 1]);
    put_edge(left_plane, west);
    put_edge(right_plane, east);
    __syncthreads();

    // At the region's rim a thread reads its own edge instead of a neighbour's: any value will do.
    const int bx = static_cast<int>(blockDim.x);
    const int above_thread = threadIdx.y > 0 ? thread_ - bx : thread_;
    const int below_thread = threadIdx.y + 1 < blockDim.y ? thread_ + bx : thread_;
    const int left_thread = threadIdx.x > 0 ? thread_ - 1 : thread_;
    const int right_thread = threadIdx.x + 1 < blockDim.x ? thread_ + 1 : thread_;
    T above[PX];
    T below[PX];
    get_edge(bottom_plane, above_thread, above);
    get_edge(top_plane, below_thread, below);
    get_edge(right_plane, left_thread, west);
    get_edge(left_plane, right_thread, east);
    set_ = planes * threads_ - set_;

#pragma unroll
    for (int j = 0; j < PY; ++j) {
      T next[PX];
#pragma unroll
      for (int i = 0; i < PX; ++i) {
        const T centre = cells_[j][i];
        T up = above[i];
        T down = j + 1 < PY ? cells_[j + 1 < PY ? j + 1 : j][i] : below[i];
        T lhs = i > 0 ? cells_[j][i > 0 ? i - 1 : 0] : west[j];
        T rhs = i + 1 < PX ? cells_[j][i + 1 < PX ? i + 1 : i] : east[j];
        if constexpr (MeetsEdge) {
          replace_ghosts(x_ + i, y_ + j, centre, up, down, lhs, rhs);
        }
        next[i] = step(up, down, lhs, rhs, centre, grid_.factor);
      }
#pragma unroll
      for (int i = 0; i < PX; ++i) {
        above[i] = cells_[j][i];
        cells_[j][i] = next[i];
      }
    }
  }

  // Ghost cells follow the state of the grid, not of the registers that happen to stand for them.
  __device__ void replace_ghosts(int x, int y, T centre, T& up, T& down, T& lhs, T& rhs) const {
    const T ghost = grid_.boundary == Boundary::dirichlet ? grid_.constant : centre;
    up = y == 0 ? ghost : up;
    down = y == grid_.ny - 1 ? ghost : down;
    lhs = x == 0 ? ghost : lhs;
    rhs = x == grid_.nx - 1 ? ghost : rhs;
  }

  Grid<T> grid_;
  Quad<T>* edges_;
  int threads_;
  int thread_;
  int x_; ///< of the patch's first cell, in cells of the grid
  int y_;
  int tile_left_;
  int tile_top_;
  int tile_right_;
  int tile_bottom_;
  bool meets_edge_;
  int set_ = 0;
  T cells_[PY][PX];
};

} // namespace diffbench::kernels
