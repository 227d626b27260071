// SPDX-License-Identifier: Apache-2.0
// The course of a comparison on fakes: who is given up, who is timed, and what Ctrl-C leaves.
#include "competition.hpp"

#include "fake_clock.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <sstream>
#include <stdexcept>

namespace diffbench::bench {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct FakeRow : TimedRow {
  std::optional<bool> right;

  [[nodiscard]] bool verified() const { return right == true; }
  [[nodiscard]] bool wrong() const { return right == false; }
};

bool stopped = false;
bool stop() noexcept { return stopped; }

/// Takes a second a step; `before` a sample it may throw, or stop all.
struct FakeWork {
  std::function<void()> before = [] {};

  Sample sample(std::int64_t steps) {
    before();
    FakeClock::seconds += static_cast<double>(steps);
    return {.iterations = steps, .seconds = static_cast<double>(steps), .cpu_seconds = {}};
  }
};

struct FakeContender : Contender<FakeRow, FakeWork> {
  std::function<void(FakeContender&)> verify = [](FakeContender& contender) {
    contender.row.right = true;
  };
  Absence absence = Absence::skips_row;
};

class CompetitionTest : public testing::Test {
 protected:
  CompetitionTest() { stopped = false; }

  FakeContender contender(const std::string& name) {
    FakeContender made;
    made.row.name = name;
    made.timed = std::make_unique<FakeWork>();
    return made;
  }
  void enter_failing(const std::string& name, std::function<void()> fail,
                     Absence absence = Absence::skips_row) {
    FakeContender failing = contender(name);
    failing.verify = [fail](FakeContender&) { fail(); };
    failing.absence = absence;
    competition_.enter(std::move(failing));
  }
  void verify() {
    competition_.verify([](FakeContender& one) { one.verify(one); });
  }
  void time(double budget_seconds = 12) {
    competition_.time(budget_seconds, 1e9, [this](const FakeContender&, double share) {
      shares_.push_back(share);
      return SamplePlan{.rounds = 3, .iterations = 2};
    });
  }

  std::ostringstream shown_;
  Progress progress_{shown_, false};
  Competition<FakeContender, FakeClock> competition_{progress_, nobody(), stop};
  std::vector<double> shares_;
};

TEST_F(CompetitionTest, WhatThrowsIsGivenUpAndTheOthersShareTheTime) {
  competition_.enter(contender("a"));
  enter_failing("b", [] { throw Error("broken wire"); });
  competition_.enter(contender("c"));
  verify();
  EXPECT_EQ(competition_.contenders()[1].timed, nullptr);
  time();
  EXPECT_THAT(shares_, testing::Each(6));
  const std::vector<FakeRow> rows = competition_.take_rows();
  EXPECT_THAT(rows[0].samples, SizeIs(3));
  EXPECT_EQ(rows[1].status, Status::failed);
  EXPECT_EQ(rows[1].reason, "broken wire");
  EXPECT_FALSE(rows[1].missing);
  EXPECT_THAT(rows[1].samples, IsEmpty());
  EXPECT_THAT(rows[2].samples, SizeIs(3));
}

TEST_F(CompetitionTest, WhatIsUnavailableMattersAsMuchAsItWasAskedFor) {
  const auto absent = [] { throw Unavailable("no such device"); };
  enter_failing("any", absent);
  enter_failing("named", absent, Absence::fails_row);
  verify();
  const std::vector<FakeRow> rows = competition_.take_rows();
  EXPECT_EQ(rows[0].status, Status::skipped);
  EXPECT_FALSE(rows[0].missing);
  EXPECT_EQ(rows[1].status, Status::failed);
  EXPECT_TRUE(rows[1].missing);
  EXPECT_EQ(rows[1].reason, "no such device");
  enter_failing("needed", absent, Absence::ends_all);
  EXPECT_THROW(verify(), Unavailable);
}

TEST_F(CompetitionTest, WhatWasSkippedBeforeIsNotVerified) {
  FakeContender skipped = contender("a");
  skipped.timed.reset();
  skipped.row.status = Status::skipped;
  skipped.row.reason = "no driver";
  skipped.verify = [](FakeContender&) { FAIL(); };
  competition_.enter(std::move(skipped));
  verify();
  time();
  EXPECT_EQ(competition_.take_rows().front().reason, "no driver");
}

TEST_F(CompetitionTest, WhatCtrlCCutOffIsNotAtFault) {
  competition_.enter(contender("a"));
  enter_failing("b", [] {
    stopped = true;
    throw Error("the peer is gone");
  });
  competition_.enter(contender("c"));
  EXPECT_THROW(verify(), Interrupted);
  for (const FakeRow& row : competition_.take_rows()) {
    EXPECT_EQ(row.status, Status::skipped) << row.name;
    EXPECT_EQ(row.reason, "interrupted before it was timed");
  }
}

TEST_F(CompetitionTest, WhatHasAResultWithoutATimeIsNotInterrupted) {
  FakeContender wrong = contender("wrong");
  wrong.verify = [](FakeContender& one) {
    one.row.right = false;
    one.timed.reset();
  };
  competition_.enter(std::move(wrong));
  FakeContender emulated = contender("emulated");
  emulated.row.device = DeviceKind::emulated;
  emulated.verify = [](FakeContender& one) {
    one.row.right = true;
    one.timed.reset();
  };
  competition_.enter(std::move(emulated));
  verify();
  time();
  for (const FakeRow& row : competition_.take_rows()) {
    EXPECT_EQ(row.status, Status::ok) << row.name;
    EXPECT_THAT(row.samples, IsEmpty());
  }
}

TEST_F(CompetitionTest, WhatThrowsWhileItIsTimedKeepsItsSamples) {
  FakeContender failing = contender("a");
  failing.timed->before = [calls = 0]() mutable {
    if (calls++ == 2) {
      throw std::runtime_error("device lost");
    }
  };
  competition_.enter(std::move(failing));
  competition_.enter(contender("b"));
  verify();
  time();
  const std::vector<FakeRow> rows = competition_.take_rows();
  EXPECT_TRUE(rows[0].failed());
  EXPECT_EQ(rows[0].reason, "device lost");
  EXPECT_THAT(rows[0].samples, SizeIs(2));
  EXPECT_THAT(rows[1].samples, SizeIs(3));
}

TEST_F(CompetitionTest, CtrlCWhileTimingKeepsWhatWasMeasured) {
  FakeContender last = contender("a");
  last.timed->before = [] { stopped = true; };
  competition_.enter(std::move(last));
  competition_.enter(contender("b"));
  verify();
  time();
  const std::vector<FakeRow> rows = competition_.take_rows();
  EXPECT_EQ(rows[0].status, Status::ok);
  EXPECT_THAT(rows[0].samples, SizeIs(1));
  EXPECT_EQ(rows[1].status, Status::skipped);
}

} // namespace
} // namespace diffbench::bench
