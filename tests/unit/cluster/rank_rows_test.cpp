// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/rank_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace diffbench::cluster {
namespace {

TEST(RankRows, CoverTheFieldOnce) {
  for (std::int64_t ny = 2; ny < 40; ++ny) {
    for (int ranks = 1; 2 * ranks <= ny; ++ranks) {
      std::int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Rows rows = rows_of_rank(ny, ranks, rank);
        EXPECT_EQ(rows.first, next);
        EXPECT_GE(rows.count(), ny / ranks);
        EXPECT_LE(rows.count(), (ny + ranks - 1) / ranks);
        next = rows.last;
      }
      EXPECT_EQ(next, ny);
    }
  }
}

TEST(RankRows, HaveHalosWhereTheyMeetOthers) {
  const Problem periodic{.nx = 8, .ny = 20};
  const RankPart first = part_of_rank(periodic, 4, 0, 3);
  EXPECT_EQ(first.upper, 3);
  EXPECT_EQ(first.lower, 1);
  EXPECT_EQ(first.local.ny, 11);
  Problem walled = periodic;
  walled.boundary = Boundary::neumann;
  const RankPart edge = part_of_rank(walled, 4, 3, 3);
  EXPECT_EQ(edge.upper, 2);
  EXPECT_EQ(edge.lower, -1);
  EXPECT_EQ(edge.local.ny, 8);
  EXPECT_EQ(part_of_rank(periodic, 1, 0, 3).local, periodic);
}

TEST(RankRows, RefuseAHaloDeeperThanARank) {
  const Problem problem{.nx = 8, .ny = 23};
  EXPECT_NO_THROW(require_halo(problem, 4, 0));
  EXPECT_NO_THROW(require_halo(problem, 4, 5));
  EXPECT_THROW(require_halo(problem, 4, 6), InvalidInput);
  EXPECT_THROW(require_halo(problem, 12, 1), InvalidInput); // less than two rows a rank
  EXPECT_NO_THROW(require_halo(problem, 1, 100));           // there is none
}

} // namespace
} // namespace diffbench::cluster
