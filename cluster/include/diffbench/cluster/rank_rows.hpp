// SPDX-License-Identifier: Apache-2.0
// How a field is cut among ranks: bands of rows, nearly equally many each.
//
// A rank holds its own rows and, where it meets another rank, `depth` rows of that neighbour: a
// halo. It then takes `depth` steps on its own, of all rows that it holds; each step spoils one
// more row at an open edge, so that its own rows are right when the halo is used up, and the next
// exchange brings a fresh one. The rows of halos are computed by two ranks, the same arithmetic on
// the same values, so the bits do not depend on the cut. (Ding and He, "A ghost cell expansion
// method for reducing communications in solving PDE problems", SC01.)
//
// To a backend, a rank's part is a problem like any other: fewer rows, the same columns and
// boundary. What it takes to lie beyond an open edge spoils only what is spoilt anyway.
#pragma once

#include "diffbench/problem.hpp"

#include <cstdint>

namespace diffbench::cluster {

/// Rows [first, last).
struct Rows {
  std::int64_t first = 0;
  std::int64_t last = 0;
  [[nodiscard]] std::int64_t count() const { return last - first; }
  bool operator==(const Rows&) const = default;
};

[[nodiscard]] Rows rows_of_rank(std::int64_t ny, int ranks, int rank);

/// What of `rows` lies in `part`; first == last where nothing does.
[[nodiscard]] Rows common(const Rows& rows, const Rows& part);

/// The part of one rank.
struct RankPart {
  Rows rows;                   ///< its own, of the whole field
  std::int64_t upper_halo = 0; ///< rows of the neighbour before them, which it holds, too
  std::int64_t lower_halo = 0;
  int upper = -1; ///< that neighbour; -1: none
  int lower = -1;
  Problem local; ///< what its backend solves: halo, own rows, halo
};

/// The largest depth: as many rows as the smallest rank has. Throws InvalidInput unless each rank
/// gets two rows or more.
[[nodiscard]] std::int64_t deepest_halo(const Problem& problem, int ranks);

/// Throws InvalidInput, with what to ask for, where `depth` is beyond that; 0 is always right.
void require_halo(const Problem& problem, int ranks, std::int64_t depth);

/// `depth` in [1, deepest_halo()]; one rank has no halo.
[[nodiscard]] RankPart part_of_rank(const Problem& problem, int ranks, int rank,
                                    std::int64_t depth);

} // namespace diffbench::cluster
