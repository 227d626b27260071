// The proof that a result is right: the oracle, and the comparison with it.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <span>

namespace diffbench {

/// Advances `field` in place by `steps` with the dullest loop imaginable, one thread: the oracle
/// that every backend is compared with. Beside the field it holds four rows.
template <typename T>
void advance_reference(const Problem& problem, Field<T>& field, std::int64_t steps);

/// How a result compares with the reference of the same size.
struct Comparison {
  bool bitwise = false;               ///< every bit equal, and every cell finite
  double max_abs_error = 0;           ///< over the cells that are finite in both
  std::int64_t nonfinite = 0;         ///< cells of the result that are NaN or infinite
  std::int64_t first_difference = -1; ///< index of the first cell with other bits; -1: none
};

template <typename T>
[[nodiscard]] Comparison compare(std::span<const T> result, std::span<const T> reference);

/// Minimum, maximum and sum (in double, in index order) of the finite cells, how many are not
/// finite, and how many are denormal numbers.
struct Summary {
  double min = 0;
  double max = 0;
  double sum = 0;
  std::int64_t nonfinite = 0;
  std::int64_t denormal = 0;
};

template <typename T>
[[nodiscard]] Summary summarize(std::span<const T> cells);

} // namespace diffbench
