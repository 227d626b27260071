// SPDX-License-Identifier: Apache-2.0
// Many time steps of a field far larger than the chip, in registers and shuffles alone: the kernel
// of cuda_streamed.
//
// Each warp streams down a strip of columns. Of each time level it holds three rows, from which it
// computes one of the next; a row that is loaded becomes, some rows later, one of the field
// `streamed_depth` steps later. Vertical neighbours lie in the same lane, horizontal ones in
// the same or the next. Warps share nothing: what the first and the last lane lack spoils a column
// a step on each side, and a strip is as much wider than what it stores.
// (2.5D and temporal blocking: Nguyen et al., SC 2010; streamed in registers: AN5D, CGO 2020;
// EBISU, ICS 2023.)
//
// It knows no edge of the grid: its area lies `streamed_depth` cells from each that does not wrap
// round.
#pragma once

#include "quads.cuh"
#include "step.cuh"

#include <cstdint>

namespace diffbench::kernels {

/// Asks for the 32 bytes at `address` to come to L2, wherever they are. Nothing waits for it.
__device__ inline void prefetch_to_l2([[maybe_unused]] const void* address) {
#if !defined(DIFFBENCH_EMULATED_CUDA)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

/// `Swapped`: a lane's 32 bytes of a row are two accesses of 16, so that each access of a warp
/// would write half of each of 32 sectors of L2. Two lanes swap halves instead, and each access
/// writes 16 whole ones.
template <typename T, bool Swapped>
class RowCascade {
 public:
  /// From `in` to `out`; stores columns `left` to before `right`, rows `top` to before `bottom`.
  __device__ RowCascade(const Grid<T>& grid, bool wraps_columns, const Area& stored, const T* in,
                        T* out)
      : grid_(grid),
        stored_rows_(stored.bottom - stored.top),
        next_row_(wrap(stored.top - depth, grid.ny)) {
    const int lane = static_cast<int>(threadIdx.x);
    const int strip = stored.left - strip_halo<T>;
    const int target = strip + (Swapped ? lane / 2 * 2 * cells + lane % 2 * count : lane * cells);
    to_ = out + stored.top * grid.pitch + target;
#pragma unroll
    for (int q = 0; q < strip_quads; ++q) {
      const int x = strip + lane * cells + q * count;
      // Beyond a grid whose columns do not wrap round: any, the cells are not used.
      const int column = wraps_columns ? wrap(x, grid.nx) : (x < grid.nx ? x : 0);
      from_[q] = in + next_row_ * grid.pitch + column;
      const int stores_at = target + q * between_stores;
      rows_of_quad_[q] = stores_at >= stored.left && stores_at < stored.right ? stored_rows_ : 0;
    }
  }

  /// Advances the strip by streamed_depth steps.
  __device__ void run() {
    load(rows_[0][0]);
    load(rows_[0][1]);
    load(rows_[0][2]);
    while (row_ < stored_rows_) {
      advance<0>();
      advance<1>();
      advance<2>();
    }
  }

 private:
  static constexpr int depth = streamed_depth;
  static constexpr int count = Quad<T>::count;
  static constexpr int cells = strip_quads * count;
  static constexpr int between_stores = Swapped ? cells : count;
  struct Row {
    T quads[strip_quads][count];
    __device__ T& operator[](int i) { return quads[i / count][i % count]; }
    __device__ const T& operator[](int i) const { return quads[i / count][i % count]; }
  };

  /// The next row. Beyond a grid whose rows do not wrap round: any, it is not used.
  __device__ void load(Row& row) {
    // A row's time through all levels is shorter than memory's latency, but longer than that of L2.
    constexpr int ahead = 3;
    if (next_row_ + ahead < grid_.ny) {
      prefetch_to_l2(from_[0] + ahead * grid_.pitch);
    }
    ++next_row_;
    std::int64_t step = grid_.pitch;
    if (next_row_ == grid_.ny) {
      next_row_ = 0;
      step -= grid_.ny * grid_.pitch;
    }
#pragma unroll
    for (int q = 0; q < strip_quads; ++q) {
      load_quads(from_[q], row.quads[q]);
      from_[q] += step;
    }
  }

  __device__ void store(Row row) {
    if constexpr (Swapped) {
      const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const T given = odd ? row.quads[0][i] : row.quads[1][i];
        const T taken = __shfl_xor_sync(whole_warp, given, 1);
        row.quads[0][i] = odd ? taken : row.quads[0][i];
        row.quads[1][i] = odd ? row.quads[1][i] : taken;
      }
    }
#pragma unroll
    for (int q = 0; q < strip_quads; ++q) {
      if (static_cast<unsigned>(row_) < static_cast<unsigned>(rows_of_quad_[q])) {
        store_quads(row.quads[q], to_ + q * between_stores);
      }
    }
    to_ += row_ >= 0 ? grid_.pitch : 0;
    ++row_;
  }

  /// A row of each level, the last level first: the place of a level's oldest row, which is at
  /// `Turn`, is then free for what the level before computes. So is at last that of level 0, for a
  /// row that is needed only when this comes round to it again.
  template <int Turn>
  __device__ void advance() {
    store(stepped<Turn>(depth - 1));
#pragma unroll
    for (int level = depth - 1; level > 0; --level) {
      rows_[level][Turn] = stepped<Turn>(level - 1);
    }
    load(rows_[0][Turn]);
  }

  template <int Turn>
  __device__ Row stepped(int level) const {
    const Row& above = rows_[level][Turn];
    const Row& centre = rows_[level][(Turn + 1) % 3];
    const Row& below = rows_[level][(Turn + 2) % 3];
    const T west = __shfl_up_sync(whole_warp, centre[cells - 1], 1);
    const T east = __shfl_down_sync(whole_warp, centre[0], 1);
    Row next;
#pragma unroll
    for (int i = 0; i < cells; ++i) {
      next[i] =
          step(above[i], below[i], i > 0 ? centre[i > 0 ? i - 1 : 0] : west,
               i + 1 < cells ? centre[i + 1 < cells ? i + 1 : i] : east, centre[i], grid_.factor);
    }
    return next;
  }

  const Grid<T>& grid_;
  int stored_rows_;
  int row_ = -3 * (depth - 1); ///< to store, from the first one on: a level is two behind the last
  int next_row_;               ///< to load
  const T* from_[strip_quads]; ///< of the next row
  T* to_;                      ///< of the row to store, or the first one
  int rows_of_quad_[strip_quads]; ///< to store; 0: what a neighbour stores
  Row rows_[depth][3] = {};       ///< of each level; the oldest at the turn's index
};

/// Advances `area` by streamed_depth steps, from `in` to `out`. One warp a block and a strip; with
/// shape.rows rows each the strips cover the area, side by side and then row after row.
template <typename T, bool Swapped>
__global__ void __launch_bounds__(warp_lanes)
    streamed_steps(const __grid_constant__ Grid<T> grid, Area area, StripShape shape, const T* in,
                   T* out) {
  const int strip = static_cast<int>(blockIdx.x);
  const int left = area.left + strip % shape.strips_x * strip_width<T>;
  const int top = area.top + strip / shape.strips_x * shape.rows;
  const Area stored{left, top, min(left + strip_width<T>, area.right),
                    min(top + shape.rows, area.bottom)};
  RowCascade<T, Swapped>(grid, shape.wraps_columns, stored, in, out).run();
}

} // namespace diffbench::kernels
