#include "statistics.hpp"

#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

// Expected values: R, quantile(x, p, type = 7).
TEST(Quantile, InterpolatesAsRType7) {
  const std::vector<double> values{1, 2, 4, 8, 16};
  EXPECT_DOUBLE_EQ(quantile(values, 0.0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 12.8);
  EXPECT_DOUBLE_EQ(quantile(values, 1.0), 16);
  const std::vector<double> even{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(even, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(even, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(even, 0.75), 5);
}

TEST(Quartiles, OfUnsortedValues) {
  const Quartiles q = quartiles({8, 1, 4, 2});
  EXPECT_DOUBLE_EQ(q.min, 1);
  EXPECT_DOUBLE_EQ(q.q1, 1.75);
  EXPECT_DOUBLE_EQ(q.median, 3);
  EXPECT_DOUBLE_EQ(q.q3, 5);
  EXPECT_DOUBLE_EQ(q.max, 8);
  EXPECT_DOUBLE_EQ(q.relative_spread(), (5 - 1.75) / 2 / 3);
}

TEST(Quartiles, OfOneValueHaveNoSpread) {
  const Quartiles q = quartiles({7});
  EXPECT_DOUBLE_EQ(q.min, 7);
  EXPECT_DOUBLE_EQ(q.q1, 7);
  EXPECT_DOUBLE_EQ(q.median, 7);
  EXPECT_DOUBLE_EQ(q.max, 7);
  EXPECT_DOUBLE_EQ(q.relative_spread(), 0);
}

TEST(Quartiles, OfSamplesArePerIteration) {
  const std::vector<Sample> samples{
      {.iterations = 10, .seconds = 20, .cpu_seconds = {}},
      {.iterations = 10, .seconds = 40, .cpu_seconds = {}},
      {.iterations = 10, .seconds = 30, .cpu_seconds = {}},
  };
  EXPECT_DOUBLE_EQ(iteration_quartiles(samples).median, 3);
}

} // namespace
} // namespace diffbench::bench
