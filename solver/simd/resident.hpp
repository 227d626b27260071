// SPDX-License-Identifier: Apache-2.0
// A small field of the simd backend: it stays in strides (strided_row.hpp) from upload to download,
// in two copies that take turns, so nothing is loaded, stored or computed twice.
#pragma once

#include "simd/strided_row.hpp"
#include "simd/underflow.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace diffbench::simd {

template <typename T>
class Resident {
 public:
  /// It is held in this form.
  Resident(const Problem& problem, const RowKernels<T>& kernels, Form form = Form::natural);

  /// As those of a Session, of cells in that form.
  void upload_rows(std::int64_t first, std::span<const T> cells);
  void advance(std::int64_t steps);
  void download_rows(std::int64_t first, std::span<T> cells);

 private:
  /// The rows of one call of the kernel.
  struct Call {
    std::array<const T*, block_rows + 2> in;
    std::array<T*, block_rows> out;
  };
  [[nodiscard]] T* row(int copy, std::int64_t y);
  [[nodiscard]] const T* input(int copy, std::int64_t y);

  Problem problem_;
  const RowKernels<T>* kernels_;
  RowShape<T> shape_;
  RowCopier<T> copier_;
  std::int64_t stride_;
  AlignedArray<T> rows_;
  std::array<std::vector<Call>, 2> calls_; ///< of a step from one copy to the other
  Form form_;
  std::size_t front_calls_; ///< that share a Front
  std::vector<Front> fronts_;
  int now_ = 0;
};

} // namespace diffbench::simd
