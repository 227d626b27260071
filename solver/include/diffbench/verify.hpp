// SPDX-License-Identifier: Apache-2.0
// The proof that a result is right: the oracle, and the comparison with it.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <span>
#include <string_view>

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

/// Where the wrong cells of a field lie. A fault at an edge spreads by one cell a step.
enum class FieldPlace {
  corner,     ///< of one corner or several
  top,        ///< the first row
  bottom,     ///< the last row
  left,       ///< the first column
  right,      ///< the last column
  edges,      ///< of several edges
  inside,     ///< of none
  scattered,  ///< of edges and elsewhere, but not in all parts of the field
  unplaced,   ///< the field is too small to tell, or the steps are too many
  everywhere, ///< in each of the nine parts that thirds of rows and columns make
};
/// As in a sentence on the cells: "at the top edge".
[[nodiscard]] std::string_view to_string(FieldPlace place);

/// What tells another order of the sums from a fault.
struct Difference {
  std::int64_t cells = 0; ///< that have other bits
  std::int64_t x = 0;     ///< of the first of them
  std::int64_t y = 0;
  FieldPlace place = FieldPlace::unplaced;
  double max_abs_error = 0;   ///< over the cells that are finite in both
  std::int64_t max_ulps = 0;  ///< numbers of the dtype from a cell to the reference's, at most
  std::int64_t nonfinite = 0; ///< cells of the result that are NaN or infinite
  bool one_sign = true; ///< of the reference's cells, 0 has both; what follows knows only these

  /// No more than rounding can do in so many steps. A step of a positive field is within 8.5 ulp of
  /// any other order of its operations, and adds that to what was there before: a stable step is a
  /// mean of cells. That is in the last place of the larger of two binades, so twice as much. In a
  /// field of both signs cells cancel, and no number of ulp tells rounding from a fault.
  [[nodiscard]] bool within_rounding(std::int64_t steps) const {
    return one_sign && nonfinite == 0 && max_ulps <= 17 * steps;
  }
  /// And explained by it: another order of the operations shows in all parts of a field whose cells
  /// matter everywhere. So small a difference in one place may be a fault.
  [[nodiscard]] bool is_rounding(std::int64_t steps) const {
    return within_rounding(steps) && place == FieldPlace::everywhere;
  }
};

/// How two fields of `nx` columns differ that some cells of which have other bits. Cells up to
/// `steps` from an edge count as of that edge.
template <typename T>
[[nodiscard]] Difference difference(std::span<const T> result, std::span<const T> reference,
                                    std::int64_t nx, std::int64_t steps);

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
