// One thread's band of rows in the simd backend, and the sweep that takes it several steps on.
//
// A sweep streams the rows of the band once, and carries each block of rows through all `depth`
// time levels while it is in the cache: level l of a row follows level l-1 by one row. Rows in
// flight lie in strides (strided_row.hpp). The field is updated in place. What a neighbour would
// still need in its old state is copied first: `depth` rows beyond the band (save_halo) and the
// columns on both sides of a strip. Rows and columns near the edges of a band or strip are computed
// twice, by both neighbours: the same arithmetic on the same values, so the bits do not depend on
// the cut. (Overlapped time tiling with a wavefront inside: see e.g. Wellein et al., "Efficient
// temporal blocking for stencil computations by multicore-aware wavefront parallelization", COMPSAC
// 2009.)
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"
#include "simd/plan.hpp"
#include "simd/strided_row.hpp"

#include <cstdint>
#include <vector>

namespace diffbench::simd {

template <typename T>
class Band {
 public:
  /// Rows [first, last) of the problem's field.
  Band(const Problem& problem, const Plan& plan, const RowKernels<T>& kernels, std::int64_t first,
       std::int64_t last);

  /// Copies the rows that `sweep` reads beyond the band. All bands must have done so before one
  /// sweeps, and all must have swept before one saves again.
  void save_halo(const Field<T>& field, std::int64_t depth);

  /// Advances the band's rows of `field` by depth <= plan.depth steps, in place.
  void sweep(Field<T>& field, std::int64_t depth);

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return last_; }

 private:
  struct Strip {
    Columns columns;
    RowShape<T> shape;
    RowCopier<T> copier;
  };
  /// Rows [begin, end) that a level must hold.
  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };

  /// Where the levels of a block keep their last rows: level 0 at `first`, around `count`.
  struct Places {
    std::int64_t first;
    std::int64_t count;
  };

  [[nodiscard]] Columns columns_of_strip(std::int64_t index) const;
  [[nodiscard]] Rows rows_of_level(std::int64_t level, std::int64_t depth) const;
  void sweep_strip(Field<T>& field, Strip& strip, std::int64_t depth);
  void advance_block(const Strip& strip, std::int64_t level, const Places& places,
                     std::int64_t first_row);
  void load_row(const Field<T>& field, Strip& strip, std::int64_t y, T* row);
  [[nodiscard]] const T* old_row(const Field<T>& field, std::int64_t y) const;
  [[nodiscard]] T* level_row(std::int64_t level, std::int64_t row, const Places& places);

  Problem problem_;
  Plan plan_;
  const RowKernels<T>* kernels_;
  std::int64_t first_;
  std::int64_t last_;
  T factor_;
  std::int64_t halo_depth_ = 0; ///< of the last save_halo

  AlignedArray<T> halo_rows_;    ///< `depth` rows above the band, then `depth` below
  AlignedArray<T> left_columns_; ///< of each row of the band: what the strip to the left overwrote
  AlignedArray<T> wrap_columns_; ///< of each row of the band: the field's first columns
  std::vector<Strip> strips_;
  std::int64_t row_stride_;
  AlignedArray<T> levels_; ///< the rows of all levels in flight, see level_row
  T* constant_row_;        ///< a row of ghost cells beyond a Dirichlet edge
};

} // namespace diffbench::simd
