// SPDX-License-Identifier: Apache-2.0
#include "simd/strided_row.hpp"

#include <algorithm>

namespace diffbench::simd {

namespace {

Ends ends_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::periodic: return Ends::wrap;
    case Boundary::dirichlet: return Ends::constant;
    case Boundary::neumann: return Ends::edge;
  }
  return Ends::wrap;
}

} // namespace

template <typename T>
RowShape<T> shape_of(const Problem& problem, const Columns& columns, std::int64_t lanes,
                     Form form) {
  const Ends ends = ends_of(problem.boundary);
  return row_shape(columns.cells(), lanes, columns.left_halo > 0 ? Ends::none : ends,
                   columns.right_halo > 0 ? Ends::none : ends, boundary_cell<T>(problem, form));
}

template <typename T>
std::int64_t row_stride(std::int64_t vectors, std::int64_t lanes) {
  constexpr std::int64_t per_line = array_alignment / sizeof(T);
  const std::int64_t lines = ((vectors + 2) * lanes + per_line - 1) / per_line;
  return (lines | 1) * per_line;
}

template <typename T>
RowCopier<T>::RowCopier(const RowKernels<T>& kernels, const RowShape<T>& shape,
                        const Columns& columns)
    : kernels_(&kernels),
      shape_(shape),
      left_(columns.left_halo),
      core_cells_(columns.end - columns.begin),
      first_((left_ + shape.vectors - 1) / shape.vectors),
      last_(std::max(first_, (left_ + core_cells_) / shape.vectors)),
      edges_(kernels.lanes * shape.vectors) {}

template <typename T>
void RowCopier<T>::load(const T* left, const T* core, const T* right, T* row) {
  const std::int64_t m = shape_.vectors;
  const std::int64_t core_end = left_ + core_cells_;
  const auto copy_core = [&](std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, left_);
    end = std::min(end, core_end);
    if (begin < end) {
      std::copy_n(core + (begin - left_), end - begin, edges_.data() + begin);
    }
  };
  std::copy_n(left, left_, edges_.data());
  copy_core(0, first_ * m);
  copy_core(last_ * m, core_end);
  std::copy_n(right, shape_.cells - core_end, edges_.data() + core_end);

  const T* from[max_lanes];
  for (std::int64_t lane = 0; lane < kernels_->lanes; ++lane) {
    const bool direct = lane >= first_ && lane < last_;
    from[lane] = direct ? core + (lane * m - left_) : edges_.data() + lane * m;
  }
  kernels_->gather(from, row, m);
  kernels_->close(row, shape_);
}

template <typename T>
void RowCopier<T>::store(const T* row, T* core) {
  const std::int64_t m = shape_.vectors;
  T* to[max_lanes];
  for (std::int64_t lane = 0; lane < kernels_->lanes; ++lane) {
    const bool direct = lane >= first_ && lane < last_;
    to[lane] = direct ? core + (lane * m - left_) : edges_.data() + lane * m;
  }
  kernels_->scatter(row, to, m);
  const auto copy_core = [&](std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, left_);
    end = std::min(end, left_ + core_cells_);
    if (begin < end) {
      std::copy_n(edges_.data() + begin, end - begin, core + (begin - left_));
    }
  };
  copy_core(0, first_ * m);
  copy_core(last_ * m, left_ + core_cells_);
}

template RowShape<float> shape_of<float>(const Problem&, const Columns&, std::int64_t, Form);
template RowShape<double> shape_of<double>(const Problem&, const Columns&, std::int64_t, Form);
template std::int64_t row_stride<float>(std::int64_t, std::int64_t);
template std::int64_t row_stride<double>(std::int64_t, std::int64_t);
template class RowCopier<float>;
template class RowCopier<double>;

} // namespace diffbench::simd
