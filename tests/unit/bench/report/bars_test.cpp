// SPDX-License-Identifier: Apache-2.0
// The drawings for a terminal.
#include "bars.hpp"

#include "sample_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

/// Rows with times of 1 ms, 8 ms and 10 ms in a drawing whose bars have 20 columns.
TEST(Bars, TheLadderBeginsAtZero) {
  EXPECT_EQ(format_bars(sample_result(), 46), R"(
time/iter
slow             ====================  10.0 ms
peer:numpy       ================      8.00 ms
fast             ==                    1.00 ms
)");
}

TEST(Bars, TheLadderOfTimesFarApartHasALogarithmicAxisAndSaysSo) {
  ComparisonResult result;
  result.rows = {timed_row("slow", 1, 1), timed_row("fast", 1, 1e-3), timed_row("other", 1, 1e-1)};
  EXPECT_EQ(format_bars(result, 46), R"(
time/iter (log)  1.00 ms       1.00 s
slow             ====================   1.00 s
other            =============          100 ms
fast             =                     1.00 ms
)");
}

ComparisonResult with_warm_run(const Phases& phases) {
  ComparisonResult result;
  result.rows.push_back(timed_row("one", 1, 1e-3));
  result.rows.back().warm = phases;
  return result;
}

std::string last_line(const ComparisonResult& result) {
  std::string text = format_bars(result, 0);
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(Bars, PhasesFillTheWarmRun) {
  Phases phases;
  phases.h2d = 0.25;
  phases.compute = 0.5;
  phases.d2h = 0.15;
  phases.unexplained = 0.1;
  phases.wall = 1;
  const ComparisonResult result = with_warm_run(phases);
  EXPECT_EQ(last_line(result), "one              >>>#####<?   1.00 s");
  EXPECT_THAT(format_bars(result, 0),
              testing::HasSubstr("shares of the warm run: > h2d, # compute, < d2h, ? unexplained"));
}

TEST(Bars, PhasesThatClaimMoreThanThereWasStayInside) {
  Phases phases;
  phases.compute = 1.2;
  phases.sync = 0.1;
  phases.unexplained = -0.3;
  phases.wall = 1;
  EXPECT_EQ(last_line(with_warm_run(phases)), "one              ##########   1.00 s");
}

TEST(Bars, RowsWithoutATimeHaveNone) {
  ComparisonResult result;
  result.rows.push_back(timed_row("wrong", 1, 1e-3));
  result.rows.back().verification->bitwise = false;
  result.rows.back().warm = Phases();
  result.rows.back().warm->wall = 1;
  EXPECT_EQ(format_bars(result, 80), "");
}

} // namespace
} // namespace diffbench::bench
