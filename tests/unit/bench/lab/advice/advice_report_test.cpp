// SPDX-License-Identifier: Apache-2.0
#include "advice/advice_report.hpp"

#include <gmock/gmock.h>

#include <array>

namespace diffbench::bench {
namespace {

LabReport checked(double measured) {
  CheckedPrediction one;
  one.backend = "toy";
  one.run = Checked::warm;
  one.predicted = 1;
  one.measured = measured;
  LabReport report;
  report.sentence = "toy is predicted to be the fastest.";
  append_check(report, std::array{one});
  return report;
}

TEST(AdviceReport, ACheckBeyondItsBarSaysToCalibrateAgain) {
  EXPECT_EQ(checked(1.1).sentence, "toy is predicted to be the fastest.");
  EXPECT_THAT(checked(2).sentence,
              testing::HasSubstr("\nThe predictions are off by 50.0 % in the median, which is more "
                                 "than 15.0 %: calibrate again when nothing else runs"));
}

} // namespace
} // namespace diffbench::bench
