// SPDX-License-Identifier: Apache-2.0
// The fields on which a backend is verified beside the field of its run. The heat of a block
// underflows long before it reaches an edge of a large field. So such a run says nothing about the
// edges, the corners, and the cells behind the last whole vector or tile. In these fields every
// cell matters.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace diffbench {

/// What the cells of a field of a proof hold. All are positive, so that what rounding does is known
/// (Difference::is_rounding).
enum class ProofCells {
  random,        ///< uniform in [0, 1)
  denormal,      ///< a flush to zero shows
  near_denormal, ///< differences and products are denormal, most cells are not
  large,         ///< up to an eighth of the largest number: no step overflows
  mixed,         ///< random, with a patch of denormal cells and one of large ones
};
[[nodiscard]] std::string_view to_string(ProofCells cells);

/// Fills it with them, the same for fields of one size. 1 ns a cell.
template <typename T>
void fill_proof_cells(ProofCells cells, Field<T>& field);

/// A small problem, and with which cells it is solved.
struct ProofField {
  Problem problem;
  std::vector<ProofCells> cells;
  bool thorough = false; ///< with more numbers of steps than the others
};

/// One after another; the first tells most of where a fault lies. Odd, thin, square, not square, of
/// the least size, narrower than a vector or a tile, and larger than these, with all boundaries. No
/// constant of theirs is exact in binary, so that a factor or a ghost value that is rounded twice,
/// or not at all, shows. `brief`: the first few, for a device that is emulated.
[[nodiscard]] std::vector<ProofField> proof_fields(Dtype dtype, bool brief);

/// Numbers of steps, ascending and beginning with one, around those that one sweep makes (`depths`;
/// any, and how many there are): a step, two, and a sweep and one more. If `thorough`, also a
/// sweep, two sweeps and one more, and one more than the usual depths, which shows a sweep that its
/// backend does not speak of.
[[nodiscard]] std::vector<std::int64_t> proof_steps(std::span<const std::int64_t> depths,
                                                    bool thorough);

} // namespace diffbench
