// SPDX-License-Identifier: Apache-2.0
// The oracle and its relatives: the same dull loop with another order of the operations, which
// rounds otherwise, or with a mistake, which is wrong. A submission that has the bits of one of
// them is explained by it.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// The neighbours of a cell, in the oracle's order.
enum class Neighbour { up, down, left, right };

/// In which order a step's operations are done, and which of them are rounded.
struct Arithmetic {
  enum class Centre {
    last,    ///< sum - 4u
    first,   ///< -4u + sum, from left to right
    by_axis, ///< (left - 2u + right) + (up - 2u + down)
    folded   ///< (1 - 4f) u + f sum
  };
  enum class Precision {
    own,
    wide_step, ///< in float64, rounded once a step
    wide_end,  ///< in float64, rounded at the end
    wide_part  ///< the sum in float32, the rest in float64: a literal like 4.0 does it
  };
  std::array<Neighbour, 4> order = {Neighbour::up, Neighbour::down, Neighbour::left,
                                    Neighbour::right};
  bool in_pairs = false; ///< (a + b) + (c + d) and not ((a + b) + c) + d
  Centre centre = Centre::last;
  int fused =
      0; ///< which product is not rounded before it is added: 0 none, 1 and 2 see the source
  Precision precision = Precision::own;

  bool operator==(const Arithmetic&) const = default;
};

/// All that are looked for, the oracle's own first, then the same with a fused product.
[[nodiscard]] const std::vector<Arithmetic>& arithmetics();
/// As in "it sums ...".
[[nodiscard]] std::string to_string(const Arithmetic& arithmetic);
/// The oracle's order, with a product that is not rounded.
[[nodiscard]] bool is_contracted(const Arithmetic& arithmetic);

/// What is done otherwise than it should be; the default is nothing.
struct Fault {
  enum class Outside { wrapped, zero, copied, flat };
  enum class Skipped { none, edges, corners, last_row, last_column, partial_blocks, all };
  enum class Keeps { poison, old, zero, alternating };
  enum class Buffers { swapped, never, even_lost, odd_lost };
  enum class TileHalo { none, zero, copied, stale };

  Outside outside = Outside::wrapped; ///< what a neighbour beyond an edge is; wrapped: as asked
  Skipped skipped = Skipped::none;    ///< cells that a step does not compute,
  Keeps keeps = Keeps::poison;        ///< and what they then hold
  Buffers buffers = Buffers::swapped;
  TileHalo halo = TileHalo::none; ///< what a neighbour beyond a tile's edge is
  int bx = 0, by = 0;             ///< of a tile or block
  bool in_place = false;          ///< new values are read in place of old ones
  bool exchanged = false;         ///< x and y
  double factor_scale = 1;
  bool factor_squared = false;
  bool factor_missing = false;
  double centre = 4;
  int more_steps = 0;
  std::optional<Neighbour> twice = {}, missing = {}; ///< `twice` is read in place of `missing`
  double sign = 1;
};

/// A fault that is known, as it is told.
struct Mistake {
  std::string_view id; ///< for programs
  std::string text;    ///< "the edges are not wrapped: ..."
  std::string advice;  ///< what to look at
  Fault fault;
};
/// The likeliest first.
[[nodiscard]] const std::vector<Mistake>& mistakes();

/// `field` after `steps` of this. Faults are those of periodic edges.
template <typename T>
[[nodiscard]] Field<T> advance_varied(const Problem& problem, const Field<T>& field,
                                      std::int64_t steps, const Arithmetic& arithmetic,
                                      const Fault& fault = {});

/// Equal to the bit; a NaN equals any other, but for what was there before.
template <typename T>
[[nodiscard]] bool same_bits(const Field<T>& a, const Field<T>& b);

} // namespace diffbench::bench
