// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "conclusion.hpp"
#include "rounds.hpp"
#include "sample_result.hpp"
#include "text_table.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace diffbench::bench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Units, ThreeDigits) {
  EXPECT_EQ(format_figure(0.09123), "0.0912");
  EXPECT_EQ(format_figure(0.5), "0.500");
  EXPECT_EQ(format_figure(9.994), "9.99");
  EXPECT_EQ(format_figure(9.996), "10.0");
  EXPECT_EQ(format_figure(16.44), "16.4");
  EXPECT_EQ(format_figure(177.3), "177");
  EXPECT_EQ(format_figure(999.6), "1000");
  EXPECT_EQ(format_figure(1234), "1230");
  EXPECT_EQ(format_figure(0), "0");
  EXPECT_EQ(format_figure(-16.44), "-16.4");
  EXPECT_EQ(format_figure(1e308), "1.00e+308");
  EXPECT_EQ(format_figure(5e-324), "4.94e-324");
  EXPECT_EQ(format_figure(std::nan("")), "-");
  EXPECT_EQ(format_figure(std::numeric_limits<double>::infinity()), "-");
}

TEST(Units, SecondsChooseTheirUnit) {
  EXPECT_EQ(format_seconds(25.14e-6), "25.1 us");
  EXPECT_EQ(format_seconds(4.45e-3), "4.45 ms");
  EXPECT_EQ(format_seconds(1.2), "1.20 s");
  EXPECT_EQ(format_seconds(534e-9), "534 ns");
  EXPECT_EQ(format_seconds(0.99951e-3), "1.00 ms");
  EXPECT_EQ(format_seconds(120), "120 s");
  EXPECT_EQ(format_seconds(-3.46e-3), "-3.46 ms");
  EXPECT_EQ(format_seconds(0), "0 ns");
}

TEST(TextTable, ColumnsAlign) {
  TextTable table({"name", "figure"});
  table.add({"a", "1"});
  table.add({"longer name", "1234567"});
  EXPECT_EQ(table.format(),
            "name          figure\n"
            "--------------------\n"
            "a                  1\n"
            "longer name  1234567\n");
}

TEST(Report, HasARowForEachRowThatRan) {
  const std::string text = format_tables(sample_result());
  EXPECT_THAT(text, HasSubstr("1000x1000 float32, 100 iterations"));
  EXPECT_THAT(
      text,
      ContainsRegex(
          "fast +2 +1\\.00 ms +\\+-5\\.0 % +5x10 +1\\.00 +8\\.00 +50 % +10\\.0x +1\\.00x +yes\n"));
  EXPECT_THAT(text, ContainsRegex("wrong +1( +-){8} +NO\n"));
  EXPECT_THAT(text, ContainsRegex("failed +-( +-){8} +failed\n"));
  EXPECT_THAT(text, ContainsRegex("fast +250 ms +1\\.00 s +3 MiB\n"));
}

TEST(Report, GivesTheReasonOfEveryRowWithoutATime) {
  const std::string text = format_tables(sample_result());
  EXPECT_THAT(text, HasSubstr("failed: failed: out of luck"));
  EXPECT_THAT(text, HasSubstr("skipped: absent: no driver"));
  EXPECT_THAT(text, HasSubstr("NOT VERIFIED: wrong: differs from the reference after 100 steps "
                              "by up to 0.5 (1048576 ulp) in 20 of 1000000 cells at the top edge, "
                              "first at x=7 y=0, 3 not finite; more than rounding does: a fault at "
                              "the top edge; it was not timed"));
}

TEST(Report, RowsWithTheSameTroubleShareALine) {
  ComparisonResult result = sample_result();
  const Row absent = *result.find("absent");
  Row same = absent;
  same.name = "absent_too";
  Row other = absent;
  other.name = "third";
  other.reason = "no such device";
  result.rows = {absent, same, other};
  const std::string text = format_tables(result);
  EXPECT_THAT(text, HasSubstr("skipped: absent, absent_too: no driver\n"));
  EXPECT_THAT(text, HasSubstr("skipped: third: no such device\n"));
}

TEST(Report, SaysAfterHowManyStepsItWasVerified) {
  ComparisonResult result = sample_result();
  result.rows[0].verification->steps = 20;
  EXPECT_THAT(format_tables(result), HasSubstr("yes after 20 steps\n"));
}

TEST(Report, SaysWhenTheBaselineIsMissing) {
  ComparisonResult result = sample_result();
  EXPECT_THAT(format_tables(result), HasSubstr("baseline: slow\n"));
  result.baseline = "elsewhere";
  const std::string text = format_tables(result);
  EXPECT_THAT(text, HasSubstr("baseline: elsewhere is not in this run\n"));
  EXPECT_THAT(text, ContainsRegex("fast .* 50 % +1\\.00x"));
  EXPECT_THAT(text, Not(HasSubstr("vs baseline"))); // no row has anything there
}

TEST(Report, OfNothingStillHolds) {
  EXPECT_THAT(verdict(ComparisonResult{}),
              HasSubstr("No row has both a verified result and a time"));
}

TEST(Verdict, NamesTheFastestAndItsRivals) {
  EXPECT_EQ(verdict(sample_result()),
            "fast on 2 threads is the fastest verified row, 1.00 ms an iteration, 10.0 times as "
            "fast as slow; it moves 50 % of the copy bandwidth (below the memory roof: arithmetic "
            "or the code limits it, not memory).");
}

TEST(Verdict, OfOneRowIsNoRank) {
  ComparisonResult result = sample_result();
  result.rows = {timed_row("alone", 1, 1e-3)};
  EXPECT_THAT(verdict(result), HasSubstr("alone on 1 thread is verified and takes 1.00 ms an "
                                         "iteration; it moves"));
}

TEST(Verdict, OfADisturbedMachineIsSoft) {
  ComparisonResult result = sample_result();
  result.rows = {timed_row("fast", 1, 1e-3), timed_row("slow", 1, 1.2e-3)};
  EXPECT_THAT(verdict(result), HasSubstr("1.20 times as fast as slow"));
  for (Row& row : result.rows) {
    allow_for_others(row.samples, true);
  }
  EXPECT_THAT(verdict(result), HasSubstr("slow took 0.783 to 1.84 times as long"));
}

TEST(Pace, ReadsTheSameEverywhere) {
  EXPECT_EQ(format_pace(2.5, "fused"), "2.50 times as fast as fused");
  EXPECT_EQ(format_pace(0.286, "fused"), "3.50 times slower than fused");
  for (const double alike : {0.98, 1.0, 1.02}) {
    EXPECT_EQ(format_pace(alike, "fused"), "as fast as fused");
  }
  EXPECT_EQ(format_pace(1.05), "1.05 times as fast");
  EXPECT_EQ(format_pace(0.5), "2.00 times slower");
}

TEST(Verdict, TellsTheBestRowOnOneThread) {
  ComparisonResult result = sample_result();
  result.rows.push_back(timed_row("single", 1, 4e-3));
  EXPECT_THAT(verdict(result), HasSubstr("10.0 times as fast as slow and 4.00 times as fast as "
                                         "single (the best backend on one thread)"));
}

TEST(Verdict, ExplainsMoreThanTheRoof) {
  ComparisonResult result = sample_result();
  result.rows.push_back(timed_row("blocked", 2, 0.1e-3));
  EXPECT_THAT(verdict(result), HasSubstr("500 % of the copy bandwidth (above 100 % because several "
                                         "steps are made while"));
  result.last_level_cache_bytes = 8'000'000;
  EXPECT_THAT(verdict(result), HasSubstr("old and new field fit in the cache"));
}

TEST(Verdict, SaysWhenTheOrderIsUncertain) {
  ComparisonResult result = sample_result();
  EXPECT_THAT(verdict(result), Not(HasSubstr("uncertain")));
  result.rows.push_back(timed_row("rival", 1, 1.05e-3));
  EXPECT_THAT(verdict(result),
              HasSubstr("; rival took 0.859 to 1.28 times as long, so the order of the two is "
                        "uncertain"));
}

TEST(Verdict, OneSampleProvesNoOrder) {
  ComparisonResult result = sample_result();
  result.rows[1].samples.resize(1);
  EXPECT_THAT(verdict(result),
              HasSubstr("; too few samples show whether it is really ahead of peer:numpy"));
}

} // namespace
} // namespace diffbench::bench
