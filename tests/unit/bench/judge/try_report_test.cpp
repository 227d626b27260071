// SPDX-License-Identifier: Apache-2.0
// The outcome of a file whose row fails where it is timed.
#include "try_report.hpp"

#include "outcome.hpp"
#include "sample_result.hpp"

#include <gmock/gmock.h>

namespace diffbench::bench {
namespace {

/// Right where it is judged; its row in the timing fails.
Trial failed_when_timed() {
  Trial trial;
  trial.file = "mine.cpp";
  trial.judgements.resize(1);
  trial.judgements.front().verdict = TryVerdict::same_bits;
  trial.timing = sample_result();
  Row& own = trial.timing->rows.front();
  own.status = Status::failed;
  own.reason = "its time is spent";
  return trial;
}

TEST(TryReport, IsUndecidedWhereAllRunsTogetherTookTooLong) {
  Trial trial = failed_when_timed();
  trial.timing_undecided = true;
  const LabReport report = try_report(trial);
  EXPECT_EQ(report.outcome.exit_code, exit_error);
  EXPECT_EQ(report.outcome.complaint, "mine.cpp: not decided where it is timed: its time is spent");
  EXPECT_EQ(report.done, "");
}

TEST(TryReport, IsWrongWhereItFailsInTime) {
  const LabReport report = try_report(failed_when_timed());
  EXPECT_EQ(report.outcome.exit_code, exit_not_verified);
  EXPECT_EQ(report.outcome.complaint, "mine.cpp: wrong where it is timed: its time is spent");
}

} // namespace
} // namespace diffbench::bench
