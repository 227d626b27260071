// SPDX-License-Identifier: Apache-2.0
#include "wrong_period.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace diffbench::bench {
namespace {

using Counts = std::vector<std::int64_t>; ///< of wrong cells, by column
using Runs = std::vector<Counts>;

template <typename Count>
Counts columns(std::int64_t nx, const Count& count) {
  Counts counts;
  for (std::int64_t x = 0; x < nx; ++x) {
    counts.push_back(count(x));
  }
  return counts;
}

TEST(WrongPeriod, IsThatOfTiles) {
  const auto at_edges = [](std::int64_t x) { return x % 16 == 15 || x % 16 == 0 ? 21 : 0; };
  const WrongPeriod expected{.period = 16, .at = {0, 15}};
  EXPECT_EQ(wrong_period(Runs{columns(37, at_edges)}), expected);
  // What is narrower tells nothing, the field's own edges may be wrong, and rows of tiles cross
  // all.
  auto crossed = columns(67, [&](std::int64_t x) { return at_edges(x) + 4; });
  crossed.front() = crossed.back() = 40;
  EXPECT_EQ(wrong_period(Runs{columns(7, [](std::int64_t) { return 1; }), crossed}), expected);
}

TEST(WrongPeriod, IsNoneWhereColumnsDoNotComeAgain) {
  EXPECT_EQ(wrong_period({}), std::nullopt);
  for (const Counts& counts :
       {columns(37, [](std::int64_t) { return 0; }), columns(37, [](std::int64_t) { return 5; }),
        columns(37, [](std::int64_t x) { return x < 5 ? 1 : 0; }),
        columns(37, [](std::int64_t x) { return x == 18 ? 1 : 0; }),
        columns(37, [](std::int64_t x) { return x * x % 41 < 9 ? 1 : 0; })}) {
    EXPECT_EQ(wrong_period(Runs{counts}), std::nullopt);
  }
  // Not the same in two runs.
  const auto of = [](std::int64_t period) {
    return columns(67, [=](std::int64_t x) { return x % period == 3 ? 1 : 0; });
  };
  EXPECT_TRUE(wrong_period(Runs{of(8), of(8)}));
  EXPECT_FALSE(wrong_period(Runs{of(8), of(9)}));
}

} // namespace
} // namespace diffbench::bench
