// SPDX-License-Identifier: Apache-2.0
// Many time steps of a tile of the grid, held in registers: the core of cuda_blocked and
// cuda_persistent.
//
// A block of bx by by threads holds a region of (bx*PX) by (by*PY) cells; each thread a patch of PX
// by PY in registers. A step needs of the neighbouring patches only their nearest row or column:
// rows go through shared memory, two sets in turn, so that one barrier a step is enough; columns
// are shuffled.
// The region is the tile that the block owns plus a halo; what the edge of the region lacks spoils
// one cell a step, so after `depth` steps with a halo of `depth` cells the tile is still right.
// (Overlapped temporal blocking: Holewinski et al., ICS 2012; register blocking as in AN5D, CGO
// 2020.)
#pragma once

#include "quads.cuh"
#include "step.cuh"

#include <cstdint>

#include <cuda_runtime.h>

namespace diffbench::kernels {

template <typename T>
class RegisterTile {
 public:
  /// The tile of `area` with its first cell at (tile_x, tile_y).
  __device__ RegisterTile(const Grid<T>& grid, const Area& area, const TileShape& shape, int tile_x,
                          int tile_y, void* shared)
      : grid_(grid),
        edges_(static_cast<Quad<T>*>(shared)),
        thread_(static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x)),
        place_{.x = tile_x - shape.depth + static_cast<int>(threadIdx.x) * PX,
               .y = tile_y - shape.depth + static_cast<int>(threadIdx.y) * PY,
               .left = tile_x,
               .top = tile_y,
               .right = min(tile_x + shape.tile_width, area.right),
               .bottom = min(tile_y + shape.tile_height, area.bottom)},
        offset_(row_in_grid() * grid.pitch + column_in_grid()),
        depth_(shape.depth),
        ring_(way_of_ring()),
        halo_(way_of_halo()) {
    const int region_x = tile_x - shape.depth;
    const int region_y = tile_y - shape.depth;
    meets_edge_ =
        grid.boundary != Boundary::periodic &&
        (region_x < 0 || region_y < 0 || region_x + static_cast<int>(blockDim.x) * PX > grid.nx ||
         region_y + static_cast<int>(blockDim.y) * PY > grid.ny);
    if (meets_edge_) { // of such a block, only some warps have patches there
      const auto within = [](int first, int count, int edge) {
        return first < edge && edge < first + count;
      };
      const auto any = [](bool of_lane) { return __any_sync(whole_warp, of_lane) != 0; };
      edge_within_ = any(within(place_.x, PX, 0) || within(place_.x, PX, grid.nx) ||
                         within(place_.y, PY, 0) || within(place_.y, PY, grid.ny));
      edge_beside_ = any(place_.x == 0 || place_.x + PX == grid.nx);
      edge_above_or_below_ = any(place_.y == 0 || place_.y + PY == grid.ny);
    }
  }

  /// Loads the patch.
  __device__ void load(const T* field) {
    // Ghost cells of the periodic grid are loaded, the others made up at each step.
    const bool periodic = grid_.boundary == Boundary::periodic;
    const int column = column_in_grid();
    int row = row_in_grid();
    const auto next = [periodic](int i, int n) { return periodic && i + 1 == n ? 0 : i + 1; };
    const bool rows_inside = periodic || (row >= 0 && row + PY <= grid_.ny);
    if (is_wide(column) && rows_inside) {
#pragma unroll
      for (int j = 0; j < PY; ++j) {
        load_quads(field + row * grid_.pitch + column, cells_[j]);
        row = next(row, grid_.ny);
      }
      return;
    }
    load_by_cell(field, tile_and(static_cast<int>(blockDim.x * blockDim.y) * PX * PY));
  }

  /// Loads of the patch what is of the tile, or nearer than the shape's depth to it. The rest, any
  /// value, may be of a tile that no exchange waits for.
  __device__ void load_near(const T* field) {
    const Place near = tile_and(depth_);
    if (halo_ == Way::quads || (is_in(place_) && is_wide(place_.x))) {
      load_by_quad(field);
    } else if (meets(near)) {
      load_by_cell(field, near);
    } else {
      const Patch any{};
      copy(any.cells, cells_);
    }
  }

  /// Loads it anew if cells in it are nearer than the shape's depth to the tile and not in it;
  /// those in it must have been stored.
  __device__ void load_halo(const T* field) {
    if (halo_ == Way::quads) {
      load_by_quad(field);
    } else if (halo_ == Way::cells) {
      load_by_cell(field, tile_and(depth_));
    }
  }

  /// Stores the cells of the tile.
  __device__ void store(T* field) const {
    if (!meets(place_)) {
      return;
    }
    if (is_in(place_) && is_wide(place_.x)) {
      store_by_quad(field);
      return;
    }
    store_by_cell(field);
  }

  /// The same of patches with cells nearer than the shape's depth to the tile's edge, which are all
  /// that a neighbour reads.
  __device__ void store_ring(T* field) const {
    if (ring_ == Way::quads) {
      store_by_quad(field);
    } else if (ring_ == Way::cells) {
      store_by_cell(field);
    }
  }

  /// The patch, and its first cell; of a periodic grid the one that it stands for.
  __device__ T (&cells())[patch_height][patch_width<T>] { return cells_; }
  __device__ int column_in_grid() const {
    return grid_.boundary == Boundary::periodic ? wrap(place_.x, grid_.nx) : place_.x;
  }
  __device__ int row_in_grid() const {
    return grid_.boundary == Boundary::periodic ? wrap(place_.y, grid_.ny) : place_.y;
  }
  /// Whether it has cells of the tile that neighbours read, or none of the tile but some that the
  /// tile's next steps depend on.
  __device__ bool is_in_ring() const { return ring_ != Way::none; }
  __device__ bool is_in_halo() const { return halo_ != Way::none && !meets(place_); }

  /// Advances the region by `steps`, at most the shape's depth since the last load. All threads of
  /// the block must call it.
  __device__ void advance(int steps) {
    if (meets_edge_) {
      advance_by<true>(steps);
    } else {
      advance_by<false>(steps);
    }
  }

 private:
  static constexpr int PX = patch_width<T>;
  static constexpr int PY = patch_height;

  /// Of a patch and its block's tile, in cells of the grid.
  struct Place {
    int x, y;                     ///< the patch's first cell
    int left, top, right, bottom; ///< of the tile
    __device__ bool in_tile(int cell_x, int cell_y) const {
      return cell_x >= left && cell_x < right && cell_y >= top && cell_y < bottom;
    }
  };

  struct Patch {
    T cells[PY][PX];
  };
  static __device__ void copy(const T (&from)[PY][PX], T (&to)[PY][PX]) {
#pragma unroll
    for (int j = 0; j < PY; ++j) {
#pragma unroll
      for (int i = 0; i < PX; ++i) {
        to[j][i] = from[j][i];
      }
    }
  }
  __device__ void load_by_quad(const T* field) {
#pragma unroll
    for (int j = 0; j < PY; ++j) {
      load_quads(field + offset_of_row(j), cells_[j]);
    }
  }
  __device__ void load_by_cell(const T* field, const Place& near) {
    const Grid<T> grid = grid_; // what a call is given by reference lies in memory from then on
    Patch cells;
    load_cells(grid, field, near, column_in_grid(), row_in_grid(), cells);
    copy(cells.cells, cells_);
  }
  __device__ void store_by_quad(T* field) const {
#pragma unroll
    for (int j = 0; j < PY; ++j) {
      store_quads(cells_[j], field + offset_of_row(j));
    }
  }
  // Where the patch's row `j` lies. Hidden from nvcc: it would derive each row's address from the
  // last one's, and then not see at the third that four cells lie side by side.
  __device__ std::int64_t offset_of_row(int j) const {
    std::int64_t offset = offset_ + j * grid_.pitch;
#if !defined(DIFFBENCH_EMULATED_CUDA)
    asm("" : "+l"(offset));
#endif
    return offset;
  }
  __device__ void store_by_cell(T* field) const {
    Patch cells;
    copy(cells_, cells.cells);
    store_cells(grid_.pitch, place_, cells, field);
  }
  // Cell by cell. Not inlined, and given copies: what they need would cost the time steps
  // registers.
  static __device__ __attribute__((noinline)) void load_cells(const Grid<T>& grid, const T* field,
                                                              Place near, int column, int row,
                                                              Patch& patch) {
    const bool periodic = grid.boundary == Boundary::periodic;
    for (int j = 0; j < PY; ++j) {
      int x = column;
      for (int i = 0; i < PX; ++i) {
        const bool inside = row >= 0 && row < grid.ny && x >= 0 && x < grid.nx &&
                            near.in_tile(near.x + i, near.y + j);
        patch.cells[j][i] = inside ? field[row * grid.pitch + x] : grid.constant;
        x = periodic && x + 1 == grid.nx ? 0 : x + 1;
      }
      row = periodic && row + 1 == grid.ny ? 0 : row + 1;
    }
  }
  static __device__ __attribute__((noinline)) void store_cells(std::int64_t pitch, Place place,
                                                               const Patch& patch, T* field) {
    for (int j = 0; j < PY; ++j) {
      for (int i = 0; i < PX; ++i) {
        if (place.in_tile(place.x + i, place.y + j)) {
          field[(place.y + j) * pitch + place.x + i] = patch.cells[j][i];
        }
      }
    }
  }

  // Where a patch lies decides how it is accessed: at the edges of the grid, and where depth or
  // tile are no multiple of a quad, cell by cell; all others by quads. Few warps have both.
  __device__ bool is_in(const Place& tile) const {
    return tile.in_tile(place_.x, place_.y) && tile.in_tile(place_.x + PX - 1, place_.y + PY - 1);
  }
  __device__ bool meets(const Place& tile) const {
    return place_.x + PX > tile.left && place_.x < tile.right && place_.y + PY > tile.top &&
           place_.y < tile.bottom;
  }
  // How an exchange accesses the patch, found out once.
  enum class Way : unsigned char { none, quads, cells };
  __device__ Way way_of_ring() const {
    const Place& tile = place_;
    const bool whole = is_in(place_);
    const bool near_edge = place_.x < tile.left + depth_ || place_.x + PX > tile.right - depth_ ||
                           place_.y < tile.top + depth_ || place_.y + PY > tile.bottom - depth_;
    if (!meets(tile) || (whole && !near_edge)) {
      return Way::none;
    }
    return whole && is_wide(place_.x) ? Way::quads : Way::cells;
  }
  // The tile and the cells nearer than `distance` to it. Of a narrow tile the region ends beyond
  // its depth.
  __device__ Place tile_and(int distance) const {
    Place near = place_;
    near.left -= distance;
    near.top -= distance;
    near.right += distance;
    near.bottom += distance;
    return near;
  }
  __device__ Way way_of_halo() const {
    const Place near = tile_and(depth_);
    const int column = column_in_grid();
    const int row = row_in_grid();
    const bool in_grid = column + PX > 0 && column < grid_.nx && row + PY > 0 && row < grid_.ny;
    if (is_in(place_) || !meets(near) || !in_grid) {
      return Way::none;
    }
    return is_wide(column) && row >= 0 && row + PY <= grid_.ny && is_in(near) ? Way::quads
                                                                              : Way::cells;
  }
  // Whether the patch's cells, from this column on, are quads of the grid. Its rows begin with one.
  __device__ bool is_wide(int column) const {
    return column >= 0 && column + PX <= grid_.nx && column % Quad<T>::count == 0;
  }

  // Upper and lower edges of all patches lie in shared memory in planes of 16 bytes a thread, which
  // keeps neighbouring threads' accesses free of bank conflicts, at addresses that the compiler
  // knows. The others go from lane to lane: a row of threads is a warp or an even part of one.
  static constexpr int top_plane = 0;
  static constexpr int bottom_plane = PX / Quad<T>::count;
  static constexpr int planes = 2 * bottom_plane;

  template <int N>
  __device__ void put_edge(int plane, const T (&edge)[N]) {
    store_quads(edge, edges_[plane * most_tile_threads + thread_].cells, most_tile_threads);
  }
  template <int N>
  __device__ void get_edge(int plane, int thread, T (&edge)[N]) const {
    load_quads(edges_[plane * most_tile_threads + thread].cells, edge, most_tile_threads);
  }

  template <bool MeetsEdge>
  __device__ void advance_by(int steps) {
    for (; steps >= 2; steps -= 2) {
      advance_once<MeetsEdge, 0>();
      advance_once<MeetsEdge, planes>();
    }
    if (steps > 0) {
      advance_once<MeetsEdge, 0>();
    }
  }

  /// With the set of edges whose first plane is `Set`.
  template <bool MeetsEdge, int Set>
  __device__ void advance_once() {
    put_edge(Set + top_plane, cells_[0]);
    put_edge(Set + bottom_plane, cells_[PY - 1]);
    // At the region's rim a thread gets another edge instead of a neighbour's: any value will do.
    const int bx = static_cast<int>(blockDim.x);
    T west[PY];
    T east[PY];
#pragma unroll
    for (int j = 0; j < PY; ++j) {
      west[j] = __shfl_up_sync(whole_warp, cells_[j][PX - 1], 1);
      east[j] = __shfl_down_sync(whole_warp, cells_[j][0], 1);
    }
    __syncthreads();

    const int above_thread = threadIdx.y > 0 ? thread_ - bx : thread_;
    const int below_thread = threadIdx.y + 1 < blockDim.y ? thread_ + bx : thread_;
    T above[PX];
    T below[PX];
    get_edge(Set + bottom_plane, above_thread, above);
    get_edge(Set + top_plane, below_thread, below);
    if (MeetsEdge && edge_within_) {
      step_patch<true>(above, below, west, east);
      return;
    }
    if (MeetsEdge && edge_beside_) {
      replace(place_.x == 0, place_.x + PX == grid_.nx, west, east,
              [&](int j, int edge) { return cells_[j][edge == 0 ? 0 : PX - 1]; });
    }
    if (MeetsEdge && edge_above_or_below_) {
      replace(place_.y == 0, place_.y + PY == grid_.ny, above, below,
              [&](int i, int edge) { return cells_[edge == 0 ? 0 : PY - 1][i]; });
    }
    step_patch<false>(above, below, west, east);
  }

  // Neighbours that lie beyond an edge of the grid that is one of the patch, too.
  template <int N, typename Inner>
  __device__ void replace(bool first_beyond, bool last_beyond, T (&first)[N], T (&last)[N],
                          Inner inner) const {
    if (grid_.boundary == Boundary::dirichlet) {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        first[k] = first_beyond ? grid_.constant : first[k];
        last[k] = last_beyond ? grid_.constant : last[k];
      }
    } else {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        first[k] = first_beyond ? inner(k, 0) : first[k];
        last[k] = last_beyond ? inner(k, 1) : last[k];
      }
    }
  }

  template <bool AtEdge>
  __device__ void step_patch(T (&above)[PX], const T (&below)[PX], const T (&west)[PY],
                             const T (&east)[PY]) {
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
        if constexpr (AtEdge) {
          replace_ghosts(place_.x + i, place_.y + j, centre, up, down, lhs, rhs);
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
  int thread_;
  Place place_;
  std::int64_t offset_; ///< of the patch in a field; not to be used where it lies beyond the grid
  int depth_;
  Way ring_;
  Way halo_;
  bool meets_edge_; ///< the block's region does
  // Where an edge of the grid meets patches of the warp.
  bool edge_within_ = false, edge_beside_ = false, edge_above_or_below_ = false;
  T cells_[PY][PX];
};

} // namespace diffbench::kernels
