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

/// Edges of a field, as bits of a set.
enum FaultSide : unsigned {
  left_side = 1,
  right_side = 2,
  upper_side = 4,
  lower_side = 8,
  all_sides = 15
};

/// What is done otherwise than it should be; the default is nothing.
struct Fault {
  enum class Outside { wrapped, zero, copied, mirrored, flat, beyond };
  enum class Skipped { none, edges, corners, partial_blocks, all };
  enum class Keeps { poison, old, zero, alternating };
  enum class Buffers { swapped, never, even_lost, odd_lost };
  enum class TileHalo { none, zero, copied, stale };
  enum class Stored { apart, in_place, in_place_with_ghosts };

  Outside outside = Outside::wrapped; ///< what a neighbour beyond an edge is; wrapped: as asked
  Skipped skipped = Skipped::none;    ///< cells that a step does not compute,
  Keeps keeps = Keeps::poison;        ///< and what they then hold
  unsigned sides = all_sides;         ///< the edges of which `outside` and `skipped` tell
  Buffers buffers = Buffers::swapped;
  TileHalo halo = TileHalo::none;    ///< what a neighbour beyond a tile's edge is
  int bx = 0, by = 0;                ///< of a tile or block
  Stored stored = Stored::apart;     ///< in place: new values are read in place of old ones,
  bool by_columns = false;           ///< and then the order of the cells matters
  bool exchanged = false;            ///< x and y
  std::optional<double> factor = {}; ///< in place of the one that is asked for
  double factor_scale = 1;
  bool factor_squared = false;
  double straight = 1, diagonal = 0, centre = 4; ///< weights of the neighbours and of the cell
  int more_steps = 0;
  int multiple = 1;                                  ///< of which the number of steps is made
  std::optional<Neighbour> twice = {}, missing = {}; ///< `twice` is read in place of `missing`
};

/// A fault that is known, as it is told.
struct Mistake {
  std::string id;     ///< for programs
  std::string text;   ///< "the edges are not wrapped: ..."
  std::string advice; ///< what to look at
  Fault fault;
};
/// Those of mistakes.json, the likeliest first.
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
