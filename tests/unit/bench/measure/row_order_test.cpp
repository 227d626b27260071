// SPDX-License-Identifier: Apache-2.0
#include "row_order.hpp"

#include "rounds.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

TimedRow steady_row(const std::string& name, double seconds, int rounds) {
  TimedRow row;
  row.name = name;
  for (int round = 0; round < rounds; ++round) {
    row.samples.push_back(
        {.iterations = 2, .seconds = 2 * seconds, .cpu_seconds = {}, .round = round});
  }
  return row;
}

const VerdictRule order_asked = order_rule(0.02);

TEST(Neighbours, AreInTheOrderOfTheMedians) {
  const std::vector<TimedRow> rows{steady_row("c", 3, 20), steady_row("a", 1, 20),
                                   steady_row("b", 1.01, 20)};
  const std::vector<const TimedRow*> pointers{&rows[0], &rows[1], &rows[2]};
  const std::vector<Neighbours> found = neighbours(pointers, order_asked);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].faster->name, "a");
  EXPECT_EQ(found[0].slower->name, "b");
  EXPECT_EQ(found[0].standing.verdict, Verdict::same);
  EXPECT_EQ(found[1].slower->name, "c");
  EXPECT_EQ(found[1].standing.verdict, Verdict::slower);
  EXPECT_EQ(found[1].rounds, 20);
  EXPECT_DOUBLE_EQ(found[1].seconds_of(10), 10 * (2 * 1.01 + 2 * 3));
}

TEST(Neighbours, ShareAlphaWithAllPairs) {
  // 11 rounds are enough for a third of 1 %, and not for a sixth: four rows are six pairs.
  const std::vector<TimedRow> rows{steady_row("a", 1, 11), steady_row("b", 1, 11),
                                   steady_row("c", 1, 11), steady_row("d", 1, 11)};
  const std::vector<const TimedRow*> three{&rows[0], &rows[1], &rows[2]};
  const std::vector<const TimedRow*> four{&rows[0], &rows[1], &rows[2], &rows[3]};
  EXPECT_TRUE(neighbours(three, order_asked)[0].decided());
  EXPECT_FALSE(neighbours(four, order_asked)[0].decided());
}

TEST(Neighbours, WithoutCommonRoundsOrNeighboursAreUndecidedOrNone) {
  EXPECT_TRUE(neighbours({}, order_asked).empty());
  const TimedRow one = steady_row("a", 1, 20);
  TimedRow later = steady_row("b", 2, 20);
  for (Sample& sample : later.samples) {
    sample.round += 100;
  }
  const std::vector<const TimedRow*> alone{&one};
  EXPECT_TRUE(neighbours(alone, order_asked).empty());
  const std::vector<const TimedRow*> both{&one, &later};
  const auto found = with_remedies(neighbours(both, order_asked), order_asked);
  EXPECT_EQ(found[0].rounds, 0);
  EXPECT_FALSE(found[0].decided());
  EXPECT_FALSE(found[0].rounds_to_decide);
}

/// Takes the seconds of its list in turn.
class Scripted {
 public:
  explicit Scripted(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
  Sample sample(std::int64_t steps) {
    return {
        .iterations = steps, .seconds = seconds_[taken_++ % seconds_.size()], .cpu_seconds = {}};
  }

 private:
  std::vector<double> seconds_;
  std::size_t taken_ = 0;
};

TEST(DecidedRows, RestWhileAPairGoesOn) {
  std::vector<Contender<TimedRow, Scripted>> rows;
  const auto add = [&](const char* name, std::vector<double> seconds) {
    rows.push_back({.row = {},
                    .timed = std::make_unique<Scripted>(std::move(seconds)),
                    .cost = {},
                    .plan = {.rounds = 200, .iterations = 1}});
    rows.back().row.name = name;
  };
  add("far", {9});
  add("far too", {20});
  add("open", {1});
  add("open too", {1.05, 0.99}); // on both sides of the margin, for ever
  run_rounds<SteadyClock>(
      std::span(rows), 1e9, [] { return false; }, [](int, int) {}, nobody(), nullptr,
      DecidedRows(order_asked));
  EXPECT_EQ(rows[1].row.samples.size(), rounds_wanted);
  EXPECT_EQ(rows[0].row.samples.size(), rounds_wanted) << "its pair with an open row is decided";
  EXPECT_EQ(rows[2].row.samples.size(), 200);
  EXPECT_EQ(rows[3].row.samples.size(), 200);
}

} // namespace
} // namespace diffbench::bench
