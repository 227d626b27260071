// SPDX-License-Identifier: Apache-2.0
#include "denormals.hpp"

#include "../../scratch.hpp"

#include <gmock/gmock.h>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;

class Denormals : public ScratchTest {};

TEST_F(Denormals, CostIsMeasuredOnceAndKept) {
  const LineCache cache(directory() / "denormals");
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    const auto first = find_denormal_cost(dtype, cache);
    ASSERT_TRUE(first);
    EXPECT_GT(first->share, 0.01);
    EXPECT_LT(first->share, 0.5);
    EXPECT_GT(first->slowdown, 0);
    const auto again = find_denormal_cost(dtype, cache);
    ASSERT_TRUE(again);
    EXPECT_NEAR(again->slowdown, first->slowdown, 1e-9); // no two measurements are so near
  }
}

TEST_F(Denormals, CostThatCannotBeIsMeasuredAgain) {
  const LineCache cache(directory() / "denormals");
  ASSERT_TRUE(find_denormal_cost(Dtype::float32, cache));
  std::string text = content_of(directory() / "denormals");
  put("denormals", text.substr(0, text.find_last_of(' ')) + " -1\n");
  const auto cost = find_denormal_cost(Dtype::float32, cache);
  ASSERT_TRUE(cost);
  EXPECT_GT(cost->slowdown, 0);
}

TEST(DenormalNote, SaysWhatIsPaid) {
  FieldFacts field;
  field.steps = 1000;
  field.summary.denormal = 31;
  EXPECT_EQ(
      denormal_note(field, 1000, {.share = 0.04, .slowdown = 1.44}),
      "after 1000 steps 3.1 % of the field's cells are denormal numbers; with 4 % of them, fused "
      "takes 1.4 times as long on this CPU (--init random has none at first)");
}

TEST(DenormalNote, IsSilentWhereNothingIsPaid) {
  FieldFacts field;
  field.steps = 1000;
  EXPECT_FALSE(denormal_note(field, 1000, {.share = 0.04, .slowdown = 9}));
  field.summary.denormal = 31;
  EXPECT_FALSE(denormal_note(field, 1000, {.share = 0.04, .slowdown = 1.1}));
}

} // namespace
} // namespace diffbench::bench
