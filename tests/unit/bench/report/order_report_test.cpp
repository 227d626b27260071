// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "planning.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two rows of so many rounds; the second takes `ratio` of the round times as long.
ComparisonResult two_rows(int rounds, const std::function<double(int round)>& ratio) {
  ComparisonResult result;
  result.until_decided = true;
  for (const char* name : {"first", "second"}) {
    Row row;
    row.name = name;
    row.verification = Verification{.bitwise = true};
    for (int round = 0; round < rounds; ++round) {
      const double seconds = result.rows.empty() ? 1 : ratio(round);
      row.samples.push_back(
          {.iterations = 1, .seconds = seconds, .cpu_seconds = {}, .round = round});
    }
    result.rows.push_back(row);
  }
  return result;
}

TEST(OrderNote, AdvisesMoreBudgetWhereThatWouldGiveMoreRounds) {
  const auto note = order_note(two_rows(8, [](int) { return 1.1; }));
  ASSERT_TRUE(note);
  EXPECT_THAT(*note,
              HasSubstr("first and second (about 2 more rounds, 4.20 s, would decide it: give "
                        "more --budget)"));
}

TEST(OrderNote, AdvisesNothingBeyondTheMostRounds) {
  // 53 of 100 above the margin: thousands of rounds would show it.
  const auto near_margin = [](int round) { return round % 100 < 53 ? 1.03 : 1.01; };
  const auto at_most = order_note(two_rows(rounds_most, near_margin));
  ASSERT_TRUE(at_most);
  EXPECT_THAT(*at_most, HasSubstr("and no row takes more than 1000)"));
  EXPECT_THAT(*at_most, Not(HasSubstr("--budget")));
  EXPECT_THAT(*order_note(two_rows(500, near_margin)), Not(HasSubstr("--budget")));
}

TEST(OrderNote, SaysNothingOfWhatIsDecided) {
  EXPECT_FALSE(order_note(two_rows(20, [](int) { return 1.1; })));
}

} // namespace
} // namespace diffbench::bench
