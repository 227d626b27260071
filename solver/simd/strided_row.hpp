// SPDX-License-Identifier: Apache-2.0
// Rows in strides (row_kernel.hpp): their shape, and the way there and back from natural order.
#pragma once

#include "diffbench/aligned_memory.hpp"
#include "diffbench/problem.hpp"
#include "simd/row_kernel.hpp"
#include "simd/underflow.hpp"

#include <cstdint>

namespace diffbench::simd {

/// Cells [begin, end) of a field's row, with `halo` more on a side where that is not 0. A side
/// without is the end of the field's row.
struct Columns {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t left_halo = 0;
  std::int64_t right_halo = 0;
  [[nodiscard]] std::int64_t cells() const { return left_halo + (end - begin) + right_halo; }
};

/// The shape of rows of these columns, their ends made as the problem's boundary asks.
template <typename T>
[[nodiscard]] RowShape<T> shape_of(const Problem& problem, const Columns& columns,
                                   std::int64_t lanes, Form form = Form::natural);

/// From one row pointer to the next, for rows of up to `vectors` vectors: room for the vectors
/// beyond the ends, and an odd number of cache lines, so that rows do not fall into the same sets.
template <typename T>
[[nodiscard]] std::int64_t row_stride(std::int64_t vectors, std::int64_t lanes);

/// Brings rows of one shape to strides and back.
template <typename T>
class RowCopier {
 public:
  RowCopier(const RowKernels<T>& kernels, const RowShape<T>& shape, const Columns& columns);

  /// row = `left` halo cells, the cells from `core` on, `right` halo cells; closed.
  void load(const T* left, const T* core, const T* right, T* row);
  /// The cells between the halos, to natural order.
  void store(const T* row, T* core);

 private:
  const RowKernels<T>* kernels_;
  RowShape<T> shape_;
  std::int64_t left_;
  std::int64_t core_cells_;
  // Lanes [first_, last_) are wholly between the halos: read and written in place. The others go
  // through edges_, where cell c of the row is at c.
  std::int64_t first_;
  std::int64_t last_;
  AlignedArray<T> edges_;
};

} // namespace diffbench::simd
