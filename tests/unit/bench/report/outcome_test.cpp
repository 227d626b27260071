// SPDX-License-Identifier: Apache-2.0
#include "outcome.hpp"

#include <gmock/gmock.h>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;

Row verified_row(bool bitwise) {
  Row row;
  row.verification = Verification{.bitwise = bitwise, .steps = 1};
  return row;
}

TEST(Outcome, TheWorstDecides) {
  ComparisonResult result;
  EXPECT_EQ(outcome_of(result).exit_code, exit_error);
  EXPECT_THAT(outcome_of(result).complaint, HasSubstr("nothing could be measured"));

  result.rows.push_back(verified_row(true));
  EXPECT_EQ(outcome_of(result).exit_code, exit_error); // proved, and neither timed nor emulated
  result.rows.front().samples = {{.iterations = 1, .seconds = 1, .cpu_seconds = {}}};
  EXPECT_EQ(outcome_of(result).exit_code, exit_ok);
  EXPECT_EQ(outcome_of(result).complaint, "");

  Row failed;
  failed.name = "fused";
  failed.status = Status::failed;
  failed.reason = "broken wire";
  result.rows.push_back(failed);
  EXPECT_EQ(outcome_of(result).exit_code, exit_error);
  EXPECT_EQ(outcome_of(result).complaint, "fused: broken wire; the other rows are reported");
  failed.missing = true;
  result.rows.push_back(failed);
  EXPECT_EQ(outcome_of(result).exit_code, exit_unavailable);
  EXPECT_EQ(outcome_of(result).complaint, "fused: broken wire");
  result.rows.push_back(verified_row(false));
  EXPECT_EQ(outcome_of(result).exit_code, exit_not_verified);
}

TEST(Outcome, WhatCannotBeVerifiedIsNotCalledDifferent) {
  ComparisonResult result;
  result.rows.push_back(verified_row(false));
  result.rows.front().name = "fused";
  EXPECT_EQ(outcome_of(result).complaint, "fused: its result differs from the reference");
  EXPECT_THAT(troubles(result),
              testing::ElementsAre("fused: its field differs from the reference"));
  result.rows.front().reason = "the problem diverges";
  EXPECT_EQ(outcome_of(result).exit_code, exit_not_verified);
  EXPECT_EQ(outcome_of(result).complaint, "fused: the problem diverges");
  EXPECT_THAT(troubles(result), testing::ElementsAre("fused: the problem diverges"));
}

TEST(Outcome, NothingMeasuredSaysWhy) {
  ComparisonResult result;
  Row skipped;
  skipped.name = "cuda_naive";
  skipped.status = Status::skipped;
  skipped.reason = "no driver";
  result.rows.push_back(skipped);
  EXPECT_EQ(outcome_of(result).exit_code, exit_error);
  EXPECT_EQ(outcome_of(result).complaint, "nothing could be measured; cuda_naive: no driver");
}

TEST(Outcome, AnEmulatedProofIsAResult) {
  ComparisonResult result;
  result.rows.push_back(verified_row(true));
  result.rows.front().device = DeviceKind::emulated;
  EXPECT_EQ(outcome_of(result).exit_code, exit_ok);
}

} // namespace
} // namespace diffbench::bench
