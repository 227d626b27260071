// SPDX-License-Identifier: Apache-2.0
// Gradual underflow that costs nothing where nothing is small: how the simd backend keeps the bits
// of denormal numbers without arithmetic on them.
//
// Intel's cores take some 130 cycles for each vector multiplication, fused or not, that reads or
// makes a denormal number, and a field that spreads into zeros has a front of them. So
// - the field in flight is held times field_scale, a power of two that makes all of its numbers
//   normal. Sums of multiples of the smallest denormal number are exact while they are small, in
//   either scale, so only the product of factor and Laplacian is rounded otherwise.
// - Where no product is smaller than the smallest normal number, there is no difference at all. The
//   hasty kernel supposes so: it multiplies by factor / field_scale, which gives the product as it
//   would be without the scale, and adds it times field_scale in one fused operation, so that
//   nothing is computed in addition. Under FlushToZero a product that is too small becomes 0 and
//   sets a flag of the CPU, at no cost either.
// - Where the flag is set, the careful kernel does the rows again and rounds each product that is
//   too small by hand (row_kernel.hpp). It also begins, for a while, where it was needed last.
#pragma once

#include "diffbench/problem.hpp"
#include "simd/row_kernel.hpp"

#include <cstdint>
#include <span>

namespace diffbench::simd {

/// Whether this CPU has the flag.
#if defined(__x86_64__)
inline constexpr bool has_underflow_flag = true;
#else
inline constexpr bool has_underflow_flag = false; // and denormal numbers cost little
#endif

/// How rows hold their numbers.
enum class Form {
  natural,
  scaled, ///< times field_scale; may be advanced only where FlushToZero is
};

/// What ghost cells hold under Boundary::dirichlet.
template <typename T>
[[nodiscard]] T boundary_cell(const Problem& problem, Form form) {
  return static_cast<T>(problem.boundary_value) * (form == Form::scaled ? field_scale<T> : T{1});
}

/// Whether the scheme keeps scaled numbers within the range of T: it is stable, its factor is not
/// minute, nor its boundary value immense.
template <typename T>
[[nodiscard]] bool can_be_scaled(const Problem& problem);

/// scaled = cells * field_scale. False, and `scaled` of no use, where a cell is not finite or so
/// large that the scale would leave too little room above it. Neither way uses arithmetic on
/// denormal numbers.
template <typename T>
[[nodiscard]] bool to_scaled(std::span<const T> cells, T* scaled);

/// cells = scaled / field_scale, for multiples of the scaled smallest denormal number. May be done
/// in place.
template <typename T>
void to_natural(std::span<const T> scaled, T* cells);

/// While it lives, and where rows are scaled, the calling thread's results that are too small for a
/// normal number are 0. It leaves the thread as it found it; no result of that time counts as an
/// underflow.
class FlushToZero {
 public:
  explicit FlushToZero(Form form);
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;
  ~FlushToZero();

  /// Whether there was such a result since it was made, or last asked.
  [[nodiscard]] static bool underflowed();

 private:
  [[maybe_unused]] Form form_; // elsewhere than on x86-64
  [[maybe_unused]] unsigned before_ = 0;
};

/// Chooses between the hasty and the careful kernel for rows that are near each other in place and
/// time, under FlushToZero.
class Front {
 public:
  /// advance(kernel) computes the rows, and may be called twice.
  template <typename T, typename Advance>
  void run(const RowKernels<T>& kernels, const Advance& advance) {
    if (careful_runs_ > 0) {
      --careful_runs_;
      advance(kernels.advance_careful);
      return;
    }
    advance(kernels.advance_hasty);
    if (FlushToZero::underflowed()) {
      advance(kernels.advance_careful);
      careful_runs_ = patience;
    }
  }

 private:
  /// Runs before the hasty kernel is tried again: in vain at a front, which costs a run in so many;
  /// too late behind it.
  static constexpr int patience = 24;
  int careful_runs_ = 0;
};

} // namespace diffbench::simd
