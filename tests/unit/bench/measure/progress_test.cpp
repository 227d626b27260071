// SPDX-License-Identifier: Apache-2.0
// The progress line: when it is drawn, and that it is wiped.
#include "progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

namespace diffbench::bench {
namespace {

using std::chrono::milliseconds;

SteadyClock::time_point now_of_test;
SteadyClock::time_point read_clock() { return now_of_test; }

class ProgressLine : public testing::Test {
 protected:
  /// What `act` adds to what is shown.
  template <typename Act>
  std::string shown_by(Act act) {
    out_.str("");
    act();
    return out_.str();
  }

  std::ostringstream out_;
};

TEST_F(ProgressLine, IsNotDrawnInTheFirstTwoSeconds) {
  Progress progress(out_, true, read_clock);
  now_of_test += milliseconds(1999);
  EXPECT_EQ(shown_by([&] { progress.stage("timing"); }), "");
  EXPECT_EQ(shown_by([&] { progress.clear(); }), "");
  now_of_test += milliseconds(1);
  EXPECT_EQ(shown_by([&] { progress.update(0.5); }),
            "\r\033[Ktiming [===============               ]  50 %");
}

TEST_F(ProgressLine, IsDrawnTenTimesASecondAndForEachStage) {
  Progress progress(out_, true, read_clock);
  now_of_test += milliseconds(2000);
  EXPECT_NE(shown_by([&] { progress.stage("reference"); }), "");
  now_of_test += milliseconds(99);
  EXPECT_EQ(shown_by([&] { progress.update(0.1); }), "");
  EXPECT_NE(shown_by([&] { progress.stage("timing"); }), "");
  now_of_test += milliseconds(100);
  EXPECT_NE(shown_by([&] { progress.update(0.2); }), "");
}

TEST_F(ProgressLine, SaysOnceWhatIsToBeSaidBeforeWork) {
  Progress progress(out_, false, read_clock);
  progress.before_work([&] { out_ << "about 30 s\n"; });
  EXPECT_EQ(shown_by([&] { progress.within("1 of 2: "); }), "");
  EXPECT_EQ(shown_by([&] { progress.stage("reference"); }), "about 30 s\n");
  EXPECT_EQ(shown_by([&] { progress.stage("timing"); }), "");
}

TEST_F(ProgressLine, IsWipedAtItsEnd) {
  {
    Progress progress(out_, true, read_clock);
    now_of_test += milliseconds(2000);
    progress.within("3 of 10: ");
    EXPECT_EQ(shown_by([&] { progress.stage("timing"); }).substr(0, 21),
              "\r\033[K3 of 10: timing [");
    out_.str("");
  }
  EXPECT_EQ(out_.str(), "\r\033[K");
}

TEST_F(ProgressLine, IsNotDrawnWhereItIsNotWanted) {
  Progress progress(out_, false, read_clock);
  now_of_test += milliseconds(5000);
  EXPECT_EQ(shown_by([&] { progress.stage("timing"); }), "");
}

} // namespace
} // namespace diffbench::bench
