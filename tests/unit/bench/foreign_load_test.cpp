#include "foreign_load.hpp"

#include "sample_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;

void halve_cpu_time(Row& row) {
  for (Sample& sample : row.samples) {
    *sample.cpu_seconds /= 2;
  }
}

TEST(ForeignLoad, ShowsInRowsOnOneThread) {
  ComparisonResult result = sample_result();
  EXPECT_EQ(foreign_load(result), std::nullopt);
  halve_cpu_time(result.rows[0]);
  EXPECT_THAT(foreign_load(result).value_or(""), HasSubstr("one-thread rows got 50 % of a CPU"));
}

TEST(ForeignLoad, ThreadsAndDevicesProveNothing) {
  ComparisonResult result = sample_result();
  halve_cpu_time(result.rows[1]); // two threads, one of which may have waited
  EXPECT_EQ(foreign_load(result), std::nullopt);
  halve_cpu_time(result.rows[0]);
  result.rows[0].device = "cuda"; // the host slept
  EXPECT_EQ(foreign_load(result), std::nullopt);
}

TEST(ForeignLoad, OfNothingTimed) { EXPECT_EQ(foreign_load(ComparisonResult{}), std::nullopt); }

} // namespace
} // namespace diffbench::bench
