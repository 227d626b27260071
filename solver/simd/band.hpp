// SPDX-License-Identifier: Apache-2.0
// One thread's band of rows in the simd backend, and the sweep that takes it several steps on.
//
// A sweep streams the rows of the band once, and carries each block of rows through all `depth`
// time levels while it is in the cache: level l of a row follows level l-1 by one row. Rows in
// flight lie in strides (strided_row.hpp). The field is updated in place.
//
// Where a band meets another one, it has one row less in each level, so nothing is computed twice:
// a sweep leaves a gap there, a triangle with its point in the first level. In a second pass, when
// both are done, the gap is filled from the rows beside it, two of each level and side, which the
// sweeps have kept. (Tessellation in y; in time and one dimension e.g. Yuan et al., "Tessellating
// stencils", SC17. Inside, a wavefront: Wellein et al., COMPSAC 2009.) Columns near the edges of a
// strip are computed twice, by both neighbours: the same arithmetic on the same values, so the bits
// do not depend on the cut.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"
#include "simd/plan.hpp"
#include "simd/strided_row.hpp"
#include "simd/underflow.hpp"

#include <cstdint>
#include <vector>

namespace diffbench::simd {

template <typename T>
class Band {
 public:
  /// Rows [first, last) of the problem's field: at least 2 plan.depth of them, where the band meets
  /// another one, or in a periodic field itself. `form` is that of the field.
  Band(const Problem& problem, const Plan& plan, const RowKernels<T>& kernels, std::int64_t first,
       std::int64_t last, Form form = Form::natural);

  /// Advances the band's rows of `field` by depth <= plan.depth steps, in place, all but the gaps.
  void sweep(Field<T>& field, std::int64_t depth);

  /// Fills the gap between the band and the one before it, when both have swept with that depth.
  /// All gaps must be filled before a band sweeps again.
  void fill_gap(Field<T>& field, const Band& before, std::int64_t depth);

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return last_; }

 private:
  struct Strip {
    Columns columns;
    RowShape<T> shape;
    RowCopier<T> copier;
  };
  /// The rows of each level that a pass computes: [begin, end) of level 0, and how they move from
  /// level to level. `before`: the pass fills the gap between that band and this one.
  struct Pass {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t begin_step;
    std::int64_t end_step;
    std::int64_t depth;
    const Band* before;
    [[nodiscard]] std::int64_t first(std::int64_t level) const {
      return begin + begin_step * level;
    }
    [[nodiscard]] std::int64_t last(std::int64_t level) const { return end + end_step * level; }
  };
  /// Where the levels of a block keep their last rows: level 0 at `first`, around `count`.
  struct Places {
    std::int64_t first;
    std::int64_t count;
  };
  enum Side { upper, lower };

  [[nodiscard]] Columns columns_of_strip(std::int64_t index) const;
  void run(const Pass& pass, Field<T>& field, std::size_t strip);
  void advance_block(const Pass& pass, std::size_t strip, std::int64_t level, const Places& places,
                     std::int64_t first_row);
  void load_row(const Field<T>& field, Strip& strip, std::int64_t y, T* row);
  [[nodiscard]] T* level_row(std::int64_t level, std::int64_t row, const Places& places);
  [[nodiscard]] std::int64_t kept_place(Side side, std::size_t strip, std::int64_t level,
                                        std::int64_t row) const;
  [[nodiscard]] T* output(const Pass& pass, std::size_t strip, std::int64_t level, std::int64_t y,
                          T* in_flight);
  [[nodiscard]] const T* input(const Pass& pass, std::size_t strip, std::int64_t level,
                               std::int64_t y, const T* in_flight);
  void keep_twice(const Pass& pass, std::size_t strip, std::int64_t level, std::int64_t y);

  Problem problem_;
  Plan plan_;
  const RowKernels<T>* kernels_;
  std::int64_t first_;
  std::int64_t last_;
  Form form_;
  std::int64_t moved_; ///< places from block to block, see level_row
  Front front_;        ///< of scaled rows
  bool meets_upper_;   ///< another band, or itself
  bool meets_lower_;
  T factor_;

  AlignedArray<T> left_columns_; ///< of each row of the band: what the strip to the left overwrote
  AlignedArray<T> wrap_columns_; ///< of each row of the band: the field's first columns
  std::vector<Strip> strips_;
  std::int64_t row_stride_;
  AlignedArray<T> levels_; ///< the rows of all levels in flight, see level_row
  AlignedArray<T> kept_;   ///< the rows beside the gaps, see kept_place
  T* constant_row_;        ///< a row of ghost cells beyond a Dirichlet edge
};

} // namespace diffbench::simd
