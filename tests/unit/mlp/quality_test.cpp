// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/quality.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace diffbench::mlp {
namespace {

/// Outputs of which `given` are the largest.
std::vector<float> outputs_for(const std::vector<int>& given, int classes) {
  std::vector<float> outputs;
  for (const int c : given) {
    for (int i = 0; i < classes; ++i) {
      outputs.push_back(i == c ? 2.0F : 1.0F);
    }
  }
  return outputs;
}

// By hand: class 0 is given to rows 0, 1, 3, of which 0 and 1 have it; and so on.
TEST(Quality, IsTheClassificationReport) {
  const std::vector<std::int32_t> labels = {0, 0, 0, 1, 1, 2};
  const Quality quality = quality_of(outputs_for({0, 0, 1, 0, 1, 1}, 3), 3, labels);
  EXPECT_DOUBLE_EQ(quality.classes[0].precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(quality.classes[0].recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(quality.classes[0].f1, 2.0 / 3);
  EXPECT_EQ(quality.classes[0].support, 3);
  EXPECT_DOUBLE_EQ(quality.classes[1].precision, 1.0 / 3);
  EXPECT_DOUBLE_EQ(quality.classes[1].recall, 1.0 / 2);
  EXPECT_DOUBLE_EQ(quality.classes[1].f1, 2.0 / 5);
  EXPECT_EQ(quality.classes[2].precision, 0); // never given
  EXPECT_EQ(quality.classes[2].recall, 0);
  EXPECT_EQ(quality.classes[2].f1, 0);
  EXPECT_DOUBLE_EQ(quality.accuracy, 0.5);
  EXPECT_EQ(quality.errors, 3);
  EXPECT_DOUBLE_EQ(quality.macro.precision, (2.0 / 3 + 1.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(quality.weighted.recall, (3 * (2.0 / 3) + 2 * 0.5) / 6);
  EXPECT_EQ(quality.macro.support, 6);
}

TEST(Quality, NanIsNeverTheClassGiven) {
  const std::vector<float> outputs = {NAN, 1, 0, NAN};
  const std::vector<std::int32_t> labels = {1, 0};
  EXPECT_EQ(quality_of(outputs, 2, labels).errors, 0);
}

} // namespace
} // namespace diffbench::mlp
