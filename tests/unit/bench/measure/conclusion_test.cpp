// SPDX-License-Identifier: Apache-2.0
// What figures may conclude: who is the fastest, and whether a bar is reached.
#include "conclusion.hpp"

#include "sample_result.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <vector>

namespace diffbench::bench {
namespace {

Ratio between(double low, double high) {
  return {.value = (low + high) / 2, .interval = Interval{low, high, 0.99}};
}

auto leader_of(const std::vector<Row>& rows) {
  return leader(rows, std::mem_fn(&Row::ranked), least_effect_in_run);
}

TEST(Conclusion, DisturbedFiguresConcludeNothing) {
  EXPECT_EQ(concluded(evidence(false), "a finding"), "a finding");
  EXPECT_EQ(concluded(evidence(true), "a finding"), no_conclusion);
  EXPECT_EQ(concluded(evidence(true), ""), "");
}

TEST(Conclusion, ABarIsReachedByTheWholeInterval) {
  EXPECT_EQ(reaches(between(10, 12), 10), true);
  EXPECT_EQ(reaches(between(8, 9.9), 10), false);
  EXPECT_EQ(reaches(between(9.9, 12), 10), std::nullopt);
  EXPECT_EQ(reaches({.value = 100, .interval = {}}, 10), std::nullopt) << "a median alone";
}

TEST(Leader, IsSureWhereAllOthersAreShownToBeSlower) {
  const auto found = leader_of({timed_row("slow", 1, 3), timed_row("fast", 1, 1)});
  ASSERT_NE(found.best, nullptr);
  EXPECT_TRUE(found.is_sure());
  EXPECT_EQ(order_doubt(found), "");
  EXPECT_EQ(leader_of({}).best, nullptr);
  EXPECT_FALSE(leader_of({}).is_sure());
}

TEST(Leader, HasARivalThatMayBeAsFast) {
  // The next by its median is surely slower, the one after that is too noisy to tell.
  const std::vector<Row> rows{timed_row("noisy", 1, 1.5, 0.9), timed_row("fast", 1, 1, 0.01),
                              timed_row("steady", 1, 1.2, 0.01)};
  const auto found = leader_of(rows);
  EXPECT_EQ(found.best->name, "fast");
  ASSERT_NE(found.rival, nullptr);
  EXPECT_EQ(found.rival->name, "noisy");
  EXPECT_THAT(order_doubt(found),
              testing::ContainsRegex("^; noisy took 0\\.1.* to 2\\.8.* times as long, so the order "
                                     "of the two is uncertain$"));
}

TEST(Leader, OfFewSamplesIsNotSure) {
  std::vector<Row> rows{timed_row("slow", 1, 100), timed_row("fast", 1, 1)};
  rows[0].samples.resize(1);
  const auto found = leader_of(rows);
  EXPECT_FALSE(found.is_sure());
  EXPECT_EQ(order_doubt(found), "; too few samples show whether it is really ahead of slow");
}

} // namespace
} // namespace diffbench::bench
