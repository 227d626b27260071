// SPDX-License-Identifier: Apache-2.0
// Interleaved rounds on a fake clock.
#include "rounds.hpp"

#include "cpu_time.hpp"
#include "fake_session.hpp"
#include "timed_solve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::SizeIs;

/// Writes its name into a shared log, takes a second a step, throws in one of its samples.
class FakeTimed {
 public:
  FakeTimed(char name, std::string& log, int* alive, int throws_in = -1)
      : name_(name), log_(log), alive_(alive), throws_in_(throws_in) {
    ++*alive_;
  }
  FakeTimed(const FakeTimed&) = delete;
  FakeTimed& operator=(const FakeTimed&) = delete;
  ~FakeTimed() { --*alive_; }

  Sample sample(std::int64_t steps) {
    log_ += name_;
    FakeClock::seconds += static_cast<double>(steps);
    if (throws_in_-- == 0) {
      throw std::runtime_error("device lost");
    }
    return {.iterations = steps, .seconds = static_cast<double>(steps), .cpu_seconds = {}};
  }

 private:
  char name_;
  std::string& log_;
  int* alive_;
  int throws_in_;
};

class RoundsTest : public testing::Test {
 protected:
  void add(char name, int rounds, int throws_in = -1) {
    rows_.push_back({.row = {},
                     .timed = std::make_unique<FakeTimed>(name, log_, &alive_, throws_in),
                     .cost = {},
                     .plan = {.rounds = rounds, .iterations = 2}});
  }
  template <typename Stop>
  void run(double limit, Stop stop) {
    run_rounds<FakeClock>(std::span(rows_), limit, stop, [this](int done, int all) {
      done_ = done;
      all_ = all;
    });
  }
  void run(double limit = 1e9) {
    run(limit, [] { return false; });
  }

  std::vector<Contender<TimedRow, FakeTimed>> rows_;
  std::string log_;
  int alive_ = 0;
  int done_ = 0;
  int all_ = 0;
};

TEST_F(RoundsTest, RowsAlternateInChangingOrders) {
  add('a', 60);
  add('b', 60);
  add('c', 60);
  run();
  ASSERT_EQ(log_.size(), 180U);
  std::set<std::string> orders;
  for (std::size_t begin = 0; begin < log_.size(); begin += 3) {
    std::string order = log_.substr(begin, 3);
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(order, "abc"); // each once a round
  }
  EXPECT_EQ(orders.size(), 6U); // so that each row follows each other one
  EXPECT_EQ(log_.substr(0, 3), "abc");
  EXPECT_EQ(done_, 180);
  EXPECT_EQ(all_, 180);
}

TEST_F(RoundsTest, ASlowRowsSamplesAreSpreadOverTheRun) {
  add('a', 6);
  add('b', 2);
  run();
  EXPECT_THAT(rows_[0].row.samples, SizeIs(6));
  EXPECT_THAT(rows_[1].row.samples, SizeIs(2));
  const std::size_t first = log_.find('b');
  const std::size_t second = log_.rfind('b');
  EXPECT_GE(second - first, 3U);
}

TEST_F(RoundsTest, ARowThatThrowsLosesWhatItTimesAndTheOthersAreKept) {
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    rows_.clear();
    add('a', 4);
    add('b', 4, round);
    add('c', 4);
    run();
    EXPECT_THAT(rows_[0].row.samples, SizeIs(4));
    EXPECT_THAT(rows_[1].row.samples, SizeIs(static_cast<std::size_t>(round)));
    EXPECT_THAT(rows_[2].row.samples, SizeIs(4));
    EXPECT_EQ(rows_[1].row.reason, "device lost");
    EXPECT_EQ(rows_[1].timed, nullptr);
    EXPECT_EQ(alive_, 2);
  }
}

TEST_F(RoundsTest, StoppingKeepsWhatWasMeasured) {
  add('a', 10);
  add('b', 10);
  int calls = 0;
  run(1e9, [&] { return ++calls > 5; });
  EXPECT_EQ(log_.size(), 5U);
  EXPECT_EQ(rows_[0].row.samples.size() + rows_[1].row.samples.size(), 5U);
}

TEST_F(RoundsTest, AnErrorWhileStoppingIsNobodysFault) {
  add('a', 10, 1);
  run(1e9, [&] { return log_.size() >= 2; });
  EXPECT_EQ(rows_[0].row.reason, "");
  EXPECT_THAT(rows_[0].row.samples, SizeIs(1));
}

TEST_F(RoundsTest, BeyondTheLimitEachRowHasAtLeastOneSample) {
  add('a', 10);
  add('b', 10);
  add('c', 1); // its turn is in the last round
  run(1);
  EXPECT_THAT(rows_[0].row.samples, SizeIs(1));
  EXPECT_THAT(rows_[1].row.samples, SizeIs(1));
  EXPECT_THAT(rows_[2].row.samples, SizeIs(1));
}

TEST_F(RoundsTest, ARowThatIsPreciseEnoughRests) {
  add('a', 100);
  add('b', 100);
  rows_[0].plan.precision = 0.01; // every sample takes the same, so its interval has no width
  run();
  EXPECT_THAT(rows_[0].row.samples, SizeIs(rounds_wanted));
  EXPECT_THAT(rows_[1].row.samples, SizeIs(100));
  EXPECT_EQ(done_, 200); // the progress ends nevertheless
}

TEST_F(RoundsTest, SamplesKnowTheirRound) {
  add('a', 4);
  add('b', 2);
  run();
  EXPECT_EQ(rows_[0].row.samples[3].round, 3);
  EXPECT_EQ(rows_[1].row.samples[0].round, 1);
  EXPECT_EQ(rows_[1].row.samples[1].round, 3);
}

TEST_F(RoundsTest, NoRowsAreNoWork) {
  run();
  EXPECT_EQ(log_, "");
}

/// Others have a CPU of two, always.
LoadWatch beside_others() {
  return LoadWatch([account = CpuAccount{.cpus = 2, .usable = 2}]() mutable {
    account.wall += 10;
    account.busy += 10;
    return std::optional(account);
  });
}

/// What is stolen of one sample after another, in shares.
struct Planted {
  static inline std::vector<double> shares;
  static inline bool on_one_thread = false;
  explicit Planted(pid_t /*process*/) {}
  void tell(Sample& sample) const {
    sample.stolen_seconds = shares.front() * sample.seconds;
    sample.on_one_thread = on_one_thread;
    if (shares.size() > 1) {
      shares.erase(shares.begin());
    }
  }
};

class RetakingTest : public testing::Test {
 protected:
  Sample take(std::vector<double> shares, double most_seconds = 1e9) {
    Planted::shares = std::move(shares);
    return least_disturbed_sample<FakeClock, Planted>(timed_, plan_, &load_, most_seconds);
  }

  std::string log_;
  int alive_ = 0;
  FakeTimed timed_{'a', log_, &alive_};
  SamplePlan plan_{.rounds = 1, .iterations = 100, .unit = 10};
  LoadWatch load_ = beside_others();
};

TEST_F(RetakingTest, ASampleOfWhichSomethingWasStolenIsTakenAgainShorter) {
  const Sample sample = take({0.5, 0.3, 0});
  EXPECT_EQ(log_, "aaa");
  EXPECT_EQ(sample.retaken, 2);
  EXPECT_EQ(sample.stolen_seconds, 0);
  EXPECT_EQ(sample.iterations, 20) << "whole units of 100, of which 20 have no quarter";
  EXPECT_EQ(plan_.iterations, 20) << "the next ones, too";
}

TEST_F(RetakingTest, TheLeastDisturbedIsKept) {
  const Sample sample = take({0.5, 0.2, 0.9});
  EXPECT_DOUBLE_EQ(sample.stolen_share(), 0.2);
  EXPECT_EQ(sample.retaken, static_cast<int>(log_.size()) - 1);
  EXPECT_LT(log_.size(), 30U) << "they take up to twice as long as the first besides";
}

TEST_F(RetakingTest, NoneIsTakenAgainWithoutNeed) {
  (void)take({0.005});
  EXPECT_EQ(log_, "a") << "a tick";
  (void)take({0.5}, 0);
  EXPECT_EQ(log_, "aa") << "no time is left";
  load_ = LoadWatch([] { return std::optional<CpuAccount>(); });
  (void)take({0.5});
  EXPECT_EQ(log_, "aaa") << "its own threads took turns";
  load_ = beside_others();
  Planted::on_one_thread = true;
  (void)take({0.5});
  Planted::on_one_thread = false;
  EXPECT_EQ(log_, "aaaa") << "it is known by how much it was longer";
}

TEST_F(RoundsTest, SamplesSayWhetherOthersWereThere) {
  add('a', 2);
  const LoadWatch load = beside_others();
  run_rounds<FakeClock>(
      std::span(rows_), 1e9, [] { return false; }, [](int, int) {}, nobody(), &load);
  EXPECT_EQ(rows_[0].row.samples[1].slack, slack_beside_others);
  rows_.clear();
  add('a', 2);
  run();
  EXPECT_FALSE(rows_[0].row.samples[1].slack) << "nobody looked";
}

/// Works for as long as its samples say.
struct Worker {
  Sample sample(std::int64_t steps) {
    const CpuTime cpu;
    while (cpu.seconds() < 5e-3) {
    }
    return {.iterations = steps, .seconds = 5e-3, .cpu_seconds = {}};
  }
};

TEST(Rounds, NothingIsTakenOutOfADevicesTime) {
  std::vector<Contender<TimedRow, Worker>> rows(2);
  for (Contender<TimedRow, Worker>& row : rows) {
    row.timed = std::make_unique<Worker>();
    row.plan = {.rounds = 1, .iterations = 1};
  }
  rows[1].row.device = DeviceKind::cuda; // works on while others have the host's CPU
  run_rounds<SteadyClock>(
      std::span(rows), 1e9, [] { return false; }, [](int, int) {});
  if (!thread_times("/proc/self", false).empty()) {
    EXPECT_TRUE(rows[0].row.samples.front().on_one_thread);
  }
  EXPECT_FALSE(rows[1].row.samples.front().on_one_thread);
}

TEST(AllowForOthers, TakesOutWhatWasStolenOfARowOnOneThread) {
  const Sample stolen{
      .iterations = 1, .seconds = 5, .cpu_seconds = {}, .stolen_seconds = 3, .on_one_thread = true};
  std::vector<Sample> samples{stolen, stolen, stolen};
  samples[1].on_one_thread = false;
  samples[2].worked_seconds = 4; // more of it was stolen before it began
  allow_for_others(samples, true);
  allow_for_others(samples, true); // once
  EXPECT_EQ(samples[0].seconds, 2);
  EXPECT_EQ(samples[0].stolen_seconds, 0);
  EXPECT_EQ(samples[1].seconds, 5);
  EXPECT_EQ(samples[2].seconds, 4);
  allow_for_others(samples, std::nullopt);
  EXPECT_FALSE(samples[1].slack) << "nobody can tell";
  allow_for_others(samples, false);
  EXPECT_EQ(samples[1].least_seconds_per_iteration(), 5);
}

// The same with sessions: every operation of a session may throw in any of its calls.
TEST(SessionRounds, AThrowingSessionIsDestroyedAndTheOtherRowIsComplete) {
  for (const char* operation : {"upload", "advance", "wait"}) {
    SCOPED_TRACE(operation);
    std::array<FakeDevice, 2> devices;
    static std::array<FakeDevice*, 2> wanted; // makers are plain functions
    wanted = {&devices[0], &devices[1]};
    BackendInfo good{.name = "good", .description = ""};
    BackendInfo bad{.name = "bad", .description = ""};
    good.make_float32 = [](const Problem&,
                           const SessionOptions&) -> std::unique_ptr<Session<float>> {
      return std::make_unique<FakeSession>(*wanted[0]);
    };
    bad.make_float32 = [](const Problem&,
                          const SessionOptions&) -> std::unique_ptr<Session<float>> {
      return std::make_unique<FakeSession>(*wanted[1]);
    };
    std::vector<float> field(9, 1.0F);
    std::vector<Contender<TimedRow, TimedSolve<float>>> rows(2);
    for (std::size_t i = 0; i < 2; ++i) {
      rows[i].timed = std::make_unique<TimedSession<float, FakeClock>>(
          PlannedRow{.backend = i == 0 ? good : bad, .probe = {}}, Problem{},
          std::span<const float>(field));
      rows[i].plan = {.rounds = 5, .iterations = 3};
      (void)rows[i].timed->first_run(field, 3, 100);
    }
    devices[1].throws_at = operation;
    devices[1].calls_before_throw = 2;
    run_rounds<FakeClock>(
        std::span(rows), 1e9, [] { return false; }, [](int, int) {});
    EXPECT_THAT(rows[0].row.samples, SizeIs(5));
    EXPECT_LT(rows[1].row.samples.size(), 5U);
    EXPECT_EQ(rows[1].row.reason, std::string(operation) + ": " + operation + " broke");
    EXPECT_EQ(devices[0].alive, 1);
    EXPECT_EQ(devices[1].alive, 0);
  }
}

} // namespace
} // namespace diffbench::bench
