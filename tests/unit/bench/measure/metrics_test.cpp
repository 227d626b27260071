// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include "sample_result.hpp"

#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

TEST(Metrics, OfAVerifiedRow) {
  const ComparisonResult result = sample_result();
  const auto fast = metrics(result, *result.find("fast"));
  ASSERT_TRUE(fast);
  EXPECT_DOUBLE_EQ(fast->time.median, 1e-3);
  EXPECT_DOUBLE_EQ(fast->cells_per_second, 1e9);
  EXPECT_DOUBLE_EQ(fast->bytes_per_second, 8e9);
  EXPECT_DOUBLE_EQ(*fast->fraction_of_copy, 0.5);
  EXPECT_DOUBLE_EQ(*fast->vs_baseline, 10);
  EXPECT_DOUBLE_EQ(*fast->vs_best_cpu, 1);
  EXPECT_DOUBLE_EQ(*metrics(result, *result.find("slow"))->vs_best_cpu, 0.1);
}

TEST(Metrics, NoneForWhatIsNotProved) {
  ComparisonResult result = sample_result();
  EXPECT_FALSE(metrics(result, *result.find("wrong")));
  EXPECT_FALSE(metrics(result, *result.find("failed")));
  Row lucky = timed_row("lucky", 1, 1e-6); // timed, but wrong
  lucky.verification->bitwise = false;
  EXPECT_FALSE(metrics(result, lucky));
}

TEST(Metrics, NoSpeedupWithoutTheBaseline) {
  ComparisonResult result = sample_result();
  result.baseline = "elsewhere";
  EXPECT_FALSE(metrics(result, *result.find("fast"))->vs_baseline);
  result.baseline = "wrong";
  EXPECT_FALSE(metrics(result, *result.find("fast"))->vs_baseline);
}

TEST(Metrics, APeerIsNotTheBestCpuBackend) {
  ComparisonResult result = sample_result();
  result.rows.push_back(timed_row("peer:torch", 1, 1e-5));
  result.rows.back().is_peer = true;
  EXPECT_DOUBLE_EQ(*metrics(result, *result.find("fast"))->vs_best_cpu, 1);
}

} // namespace
} // namespace diffbench::bench
