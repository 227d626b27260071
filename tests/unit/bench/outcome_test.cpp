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

  Row absent;
  absent.status = Status::failed;
  absent.missing = true;
  result.rows.push_back(absent);
  EXPECT_EQ(outcome_of(result).exit_code, exit_unavailable);
  result.rows.push_back(verified_row(false));
  EXPECT_EQ(outcome_of(result).exit_code, exit_not_verified);
}

TEST(Outcome, AnEmulatedProofIsAResult) {
  ComparisonResult result;
  result.rows.push_back(verified_row(true));
  result.rows.front().device = "emulated";
  EXPECT_TRUE(any_result(result));
  EXPECT_EQ(outcome_of(result).exit_code, exit_ok);
}

} // namespace
} // namespace diffbench::bench
