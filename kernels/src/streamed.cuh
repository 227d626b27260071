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

namespace diffbench::kernels {

/// Asks for the 32 bytes at `address` to come to L2, wherever they are. Nothing waits for it.
__device__ inline void prefetch_to_l2([[maybe_unused]] const void* address) {
#if !defined(DIFFBENCH_EMULATED_CUDA)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

template <typename T>
class RowCascade {
 public:
  /// Stores columns `left` to before `right`, rows `top` to before `bottom`.
  __device__ RowCascade(const Grid<T>& grid, bool wraps_columns, const Area& stored)
      : grid_(grid),
        x_(stored.left - strip_halo<T> + static_cast<int>(threadIdx.x) * cells),
        top_(stored.top),
        bottom_(stored.bottom),
        next_row_(wrap(stored.top - depth, grid.ny)) {
#pragma unroll
    for (int q = 0; q < strip_quads; ++q) {
      const int x = x_ + q * count;
      is_stored_[q] = x >= stored.left && x < stored.right;
      // Beyond a grid whose columns do not wrap round: any, the cells are not used.
      columns_[q] = wraps_columns ? wrap(x, grid.nx) : (x < grid.nx ? x : 0);
    }
  }

  /// Advances the strip by streamed_depth steps, from `in` to `out`.
  __device__ void run(const T* in, T* out) {
    load(in, rows_[0][0]);
    load(in, rows_[0][1]);
    load(in, rows_[0][2]);
    // The row that is stored. A level is two rows behind the one before.
    for (int y = top_ - 3 * (depth - 1); y < bottom_; y += 3) {
      advance<0>(in, out, y);
      advance<1>(in, out, y + 1);
      advance<2>(in, out, y + 2);
    }
  }

 private:
  static constexpr int depth = streamed_depth;
  static constexpr int count = Quad<T>::count;
  static constexpr int cells = strip_quads * count;
  struct Row {
    T quads[strip_quads][count];
    __device__ T& operator[](int i) { return quads[i / count][i % count]; }
    __device__ const T& operator[](int i) const { return quads[i / count][i % count]; }
  };

  /// The next row. Beyond a grid whose rows do not wrap round: any, it is not used.
  __device__ void load(const T* in, Row& row) {
    const T* const from = in + next_row_ * grid_.pitch;
    // A row's time through all levels is shorter than memory's latency, but longer than that of L2.
    constexpr int ahead = 3;
    if (next_row_ + ahead < grid_.ny) {
      prefetch_to_l2(from + ahead * grid_.pitch + columns_[0]);
    }
    next_row_ = next_row_ + 1 < grid_.ny ? next_row_ + 1 : 0;
#pragma unroll
    for (int q = 0; q < strip_quads; ++q) {
      load_quads(from + columns_[q], row.quads[q]);
    }
  }

  __device__ void store(T* out, int y, const Row& row) const {
    if (y < top_ || y >= bottom_) {
      return;
    }
    T* const to = out + y * grid_.pitch + x_;
#pragma unroll
    for (int q = 0; q < strip_quads; ++q) {
      if (is_stored_[q]) {
        store_quads(row.quads[q], to + q * count);
      }
    }
  }

  /// A row of each level, the last level first: the place of a level's oldest row, which is at
  /// `Turn`, is then free for what the level before computes. So is at last that of level 0, for a
  /// row that is needed only when this comes round to it again.
  template <int Turn>
  __device__ void advance(const T* in, T* out, int y) {
    store(out, y, stepped<Turn>(depth - 1));
#pragma unroll
    for (int level = depth - 1; level > 0; --level) {
      rows_[level][Turn] = stepped<Turn>(level - 1);
    }
    load(in, rows_[0][Turn]);
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
  int x_; ///< of the lane's first cell
  int top_, bottom_;
  int next_row_; ///< to load
  bool is_stored_[strip_quads];
  int columns_[strip_quads];
  Row rows_[depth][3] = {}; ///< of each level; the oldest at the turn's index
};

/// Advances `area` by streamed_depth steps, from `in` to `out`. One warp a block and a strip; with
/// shape.rows rows each the strips cover the area, side by side and then row after row.
template <typename T>
__global__ void __launch_bounds__(warp_lanes)
    streamed_steps(const __grid_constant__ Grid<T> grid, Area area, StripShape shape, const T* in,
                   T* out) {
  const int strip = static_cast<int>(blockIdx.x);
  const int left = area.left + strip % shape.strips_x * strip_width<T>;
  const int top = area.top + strip / shape.strips_x * shape.rows;
  const Area stored{left, top, min(left + strip_width<T>, area.right),
                    min(top + shape.rows, area.bottom)};
  RowCascade<T>(grid, shape.wraps_columns, stored).run(in, out);
}

} // namespace diffbench::kernels
