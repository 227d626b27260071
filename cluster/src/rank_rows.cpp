// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/rank_rows.hpp"

#include "diffbench/errors.hpp"

#include <algorithm>
#include <string>

namespace diffbench::cluster {

namespace {

// An edge rank of one row and a halo of one would be a problem of two rows, less than min_extent.
constexpr std::int64_t fewest_rows = 2;

} // namespace

Rows rows_of_rank(std::int64_t ny, int ranks, int rank) {
  return {ny * rank / ranks, ny * (rank + 1) / ranks};
}

Rows common(const Rows& rows, const Rows& part) {
  const std::int64_t first = std::max(rows.first, part.first);
  return {first, std::max(first, std::min(rows.last, part.last))};
}

std::int64_t deepest_halo(const Problem& problem, int ranks) {
  const std::int64_t rows = problem.ny / ranks;
  if (ranks > 1 && rows < fewest_rows) {
    throw InvalidInput(std::to_string(ranks) + " ranks are too many for " +
                       std::to_string(problem.ny) + " rows: each needs at least " +
                       std::to_string(fewest_rows) + "; start at most " +
                       std::to_string(std::max<std::int64_t>(1, problem.ny / fewest_rows)));
  }
  return rows;
}

void require_halo(const Problem& problem, int ranks, std::int64_t depth) {
  const std::int64_t deepest = deepest_halo(problem, ranks);
  if (ranks > 1 && depth > deepest) {
    throw InvalidInput("a halo of " + std::to_string(depth) +
                       " rows is deeper than the smallest rank, which has " +
                       std::to_string(deepest) + "; use --halo-depth " + std::to_string(deepest) +
                       " or less, or fewer ranks");
  }
}

RankPart part_of_rank(const Problem& problem, int ranks, int rank, std::int64_t depth) {
  RankPart part{.rows = rows_of_rank(problem.ny, ranks, rank), .local = problem};
  if (ranks == 1) {
    return part;
  }
  const bool periodic = problem.boundary == Boundary::periodic;
  if (periodic || rank > 0) {
    part.upper = (rank + ranks - 1) % ranks;
    part.upper_halo = depth;
  }
  if (periodic || rank + 1 < ranks) {
    part.lower = (rank + 1) % ranks;
    part.lower_halo = depth;
  }
  part.local.ny = part.upper_halo + part.rows.count() + part.lower_halo;
  return part;
}

} // namespace diffbench::cluster
