// SPDX-License-Identifier: Apache-2.0
// The logic of `diffbench pitfalls` on a fake clock: what each reading contains, what is made of
// it, and what happens when a pitfall cannot be measured.
#include "json.hpp"
#include "pitfalls/pitfall.hpp"

#include "diffbench/errors.hpp"
#include "fake_clock.hpp"
#include "interrupt.hpp"
#include "oracle_session.hpp"
#include "output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <optional>
#include <set>
#include <sstream>

namespace diffbench::bench {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// The device behind all sessions of a test: right results, and known times on the fake clock.
struct Device {
  double make = 0;
  double first_make = 0; ///< and this, once
  double copy = 0;
  double issue = 0; ///< a step, on the host
  double work = 0;  ///< a step, on the device, after it was issued
  double event_pair = 0;
  bool wrong = false;
  bool pageable_blocks = false;
};
Device device; // BackendInfo's makers are plain functions

double fake_now() { return FakeClock::seconds; }

template <typename T>
class ClockedSession final : public conformance::OracleSession<T> {
  using Oracle = conformance::OracleSession<T>;

 public:
  ClockedSession(const Problem& problem, const SessionOptions& options)
      : Oracle(problem), pinned_(options.transfer == Transfer::pinned) {
    FakeClock::seconds += device.make + std::exchange(device.first_make, 0);
    if (pinned_) {
      buffer_.resize(static_cast<std::size_t>(problem.cells()));
    }
  }
  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    FakeClock::seconds += device.copy;
    Oracle::upload_rows(first, cells);
  }
  void advance(std::int64_t steps) override {
    FakeClock::seconds += device.issue * static_cast<double>(steps);
    pending_ += device.work * static_cast<double>(steps);
    Oracle::advance(steps);
  }
  void wait() override {
    FakeClock::seconds += pending_;
    account_.compute_busy += pending_ > 0 ? pending_ + device.event_pair : 0;
    pending_ = 0;
  }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    wait();
    FakeClock::seconds += device.copy;
    Oracle::download_rows(first, cells);
    cells[0] += device.wrong ? T{1} : T{0};
  }
  void start_download(std::span<T> cells) override {
    if (pinned_) {
      std::ranges::copy(this->field_.cells(), cells.begin());
    } else {
      this->download(cells);
    }
  }
  std::span<T> host_buffer() override { return buffer_; }
  std::optional<PhaseTimes> take_phases() override { return std::exchange(account_, {}); }

 private:
  bool pinned_;
  std::vector<T> buffer_;
  double pending_ = 0;
  PhaseTimes account_;
};

BackendInfo any_backend(std::string_view name) {
  return {.name = name,
          .description = "for tests",
          .make_float32 = BackendInfo::construct<ClockedSession<float>>,
          .make_float64 = BackendInfo::construct<ClockedSession<double>>};
}
BackendInfo emulated_backend(std::string_view name) {
  BackendInfo backend = any_backend(name);
  backend.device = DeviceKind::emulated;
  return backend;
}
BackendInfo no_backend(std::string_view name) {
  throw Unavailable(std::string(name) + " is not here");
}

Problem small_problem() {
  Problem problem;
  problem.nx = 7;
  problem.ny = 5;
  return problem;
}

class PitfallsTest : public testing::Test {
 protected:
  PitfallsTest() { device = {}; }

  static Workbench bench(const Workbench::FindBackend& find = any_backend) {
    return {small_problem(), find, fake_now, LoadWatch([] { return std::optional<CpuAccount>(); })};
  }
  static Finding measure(const std::string& name) {
    Workbench workbench = bench();
    return choose_pitfalls({name}).front().measure(workbench);
  }
  LabReport report(const std::vector<Pitfall>& chosen,
                   const Workbench::FindBackend& find = any_backend) {
    Workbench workbench = bench(find);
    return measure_pitfalls(chosen, workbench, 1, progress_);
  }

  std::ostringstream err_;
  Progress progress_{err_, false};
};

// --- what each reading contains
// -------------------------------------------------------------------

TEST_F(PitfallsTest, WithoutSynchronizationOnlyTheLaunchIsRead) {
  device.issue = 1;
  device.work = 9;
  const Finding finding = measure("no-synchronization");
  EXPECT_DOUBLE_EQ(finding.mistaken.seconds, 1024);
  EXPECT_DOUBLE_EQ(finding.right.seconds, 10240);
  EXPECT_EQ(verdict(finding), "10.0x too fast");
}

TEST_F(PitfallsTest, EveryEventPairAddsItsOwnTime) {
  device.work = 2;
  device.event_pair = 1;
  const Finding finding = measure("event-pairs");
  EXPECT_DOUBLE_EQ(finding.mistaken.seconds, 100 * 3);
  EXPECT_DOUBLE_EQ(finding.right.seconds, 100 * 2 + 1);
}

TEST_F(PitfallsTest, TheContextIsInTheFirstRunOnly) {
  device.first_make = 1000;
  device.make = 10;
  device.copy = 1;
  const Finding finding = measure("context-timed");
  EXPECT_DOUBLE_EQ(finding.mistaken.seconds, 1012);
  EXPECT_DOUBLE_EQ(finding.right.seconds, 12);
}

TEST_F(PitfallsTest, CopiesToPageableMemoryDoNotOverlap) {
  device.work = 1;
  device.copy = 20;
  const Finding finding = measure("pageable-async");
  EXPECT_DOUBLE_EQ(finding.mistaken.seconds, 200 + 10 * 20);
  EXPECT_DOUBLE_EQ(finding.right.seconds, 200);
}

TEST_F(PitfallsTest, CopiesAndAllocationAreReadWhereTheyAreTimed) {
  device.make = 5;
  device.copy = 3;
  device.work = 1;
  const Finding copies = measure("copies-timed");
  EXPECT_DOUBLE_EQ(copies.mistaken.seconds, 1 + 2 * 3);
  EXPECT_DOUBLE_EQ(copies.right.seconds, 1);
  const Finding allocation = measure("allocation-timed");
  EXPECT_DOUBLE_EQ(allocation.mistaken.seconds, 5 + 3 + 10);
  EXPECT_DOUBLE_EQ(allocation.right.seconds, 3 + 10);
}

TEST_F(PitfallsTest, EqualTimesAreNoEffect) {
  device.work = 1;
  for (const char* name :
       {"synchronize-every-step", "denormals", "float32-for-float64", "hot-cache",
        "oversubscribed-threads", "one-sample", "slow-cpu-baseline"}) {
    EXPECT_EQ(verdict(measure(name)), "no effect (1.00x)") << name;
  }
}

TEST_F(PitfallsTest, AWayIsProvedBeforeItIsTimed) {
  const Way good{[] { return FakeClock::seconds += 1, 1.0; }, [] { return true; }};
  int timed = 0;
  const Way bad{[&] { return ++timed, 1.0; }, [] { return false; }};
  EXPECT_THROW((void)bench().in_turns(good, bad), WrongResult);
  EXPECT_EQ(timed, 1);
  EXPECT_EQ(bench().in_turns(good, good).right.samples.size(), 21U); // without the warm-up
}

// --- what is made of it
// ---------------------------------------------------------------------------

constexpr std::size_t rounds = 8; // the fewest from which anything is concluded

std::vector<Sample> in_rounds(const std::vector<double>& seconds) {
  std::vector<Sample> samples;
  for (const double each : seconds) {
    const int round = static_cast<int>(samples.size());
    samples.push_back(
        {.iterations = 1, .seconds = each, .cpu_seconds = {}, .round = round, .slack = 0});
  }
  return samples;
}

Finding finding_of(const std::vector<double>& mistaken, const std::vector<double>& right) {
  return {.mistaken = {mistaken.front(), in_rounds(mistaken)},
          .right = {right.front(), in_rounds(right)}};
}
Finding finding_of(double mistaken, double right) {
  return finding_of(std::vector<double>(rounds, mistaken), std::vector<double>(rounds, right));
}

Pitfall toy(std::string_view name, Finding (*measure)(Workbench&)) {
  return {.name = name,
          .usual = Effect::too_slow,
          .work = "work",
          .mistake = "mistake",
          .right = "right",
          .why = "WHY",
          .absent = "ABSENT",
          .advice = "Do not.",
          .measure = measure};
}

const Pitfall slow = toy("slow", nullptr);

TEST(PitfallEffectTest, TheSentenceFollowsTheFactor) {
  EXPECT_EQ(explanation(slow, finding_of(3, 1)), "3.00x too slow: WHY");
  EXPECT_EQ(explanation(slow, finding_of(1.05, 1)), "no effect (1.05x): ABSENT");
  EXPECT_EQ(explanation(slow, finding_of(0.95, 1)), "no effect (0.950x): ABSENT");
  EXPECT_THAT(explanation(slow, finding_of(1, 2)), StartsWith("2.00x too fast: the opposite of"));
  Finding with_detail = finding_of(3, 1);
  with_detail.detail = "two of them";
  EXPECT_EQ(explanation(slow, with_detail), "3.00x too slow: WHY (two of them)");
}

TEST(PitfallEffectTest, NothingIsConcludedFromFewOrContraryRounds) {
  const Finding noisy = finding_of({2, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 2, 1, 1, 1});
  EXPECT_EQ(effect_of(noisy), Effect::unclear);
  EXPECT_THAT(explanation(slow, noisy), StartsWith("unclear (2.00x): too few rounds"));
  EXPECT_EQ(effect_of(finding_of({3, 3}, {1, 1})), Effect::unclear);
  EXPECT_EQ(effect_of(finding_of({3, 3, 3, 3, 3, 3, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 9})),
            Effect::too_slow); // pairs only
  EXPECT_EQ(effect_of({.mistaken = {2, {}}, .right = {1, in_rounds({1, 1})}}),
            Effect::too_slow); // a mean
}

// 12 % either way of either time.
TEST(PitfallEffectTest, BesideOthersItHoldsForAllThatTheIdleMachineMayNeed) {
  const auto beside_others = [](double mistaken, double right) {
    Finding finding = finding_of(mistaken, right);
    allow_for_others(finding.mistaken.samples, true);
    allow_for_others(finding.right.samples, true);
    return effect_of(finding);
  };
  EXPECT_EQ(beside_others(1.5, 1), Effect::too_slow);
  EXPECT_EQ(beside_others(1, 1.5), Effect::too_fast);
  EXPECT_EQ(beside_others(1.3, 1), Effect::unclear);
  EXPECT_EQ(beside_others(1, 1), Effect::unclear); // and not "none"
  EXPECT_EQ(effect_of(finding_of(1.3, 1)), Effect::too_slow);
}

TEST(PitfallEffectTest, NothingIsConcludedFromAClockThatStandsStill) {
  EXPECT_EQ(effect_of(finding_of(0, 0)), Effect::unclear); // NaN
  EXPECT_EQ(effect_of(finding_of(1, 0)), Effect::unclear);
  EXPECT_EQ(verdict(finding_of(0, 1)), "no time at all");
}

// --- the table
// ------------------------------------------------------------------------------------

TEST(PitfallTableTest, EachIsComplete) {
  std::set<std::string_view> names;
  int on_cpu = 0;
  for (const Pitfall& pitfall : all_pitfalls()) {
    EXPECT_TRUE(names.insert(pitfall.name).second) << pitfall.name;
    EXPECT_THAT((std::vector{pitfall.name, pitfall.work, pitfall.mistake, pitfall.right,
                             pitfall.why, pitfall.absent, pitfall.advice}),
                Each(testing::Not(testing::IsEmpty())))
        << pitfall.name;
    EXPECT_EQ(pitfall.advice.back(), '.') << pitfall.name;
    EXPECT_NE(pitfall.measure, nullptr);
    on_cpu += pitfall.needs == Needs::cpu ? 1 : 0;
  }
  EXPECT_GE(on_cpu, 9);
}

TEST(PitfallTableTest, ThoseChosenComeInTheTablesOrder) {
  const std::vector<Pitfall> chosen = choose_pitfalls({"denormals", "no-warm-up"});
  ASSERT_THAT(chosen, SizeIs(2));
  EXPECT_EQ(chosen[0].name, "no-warm-up");
  EXPECT_EQ(choose_pitfalls({}).size(), all_pitfalls().size());
  try {
    (void)choose_pitfalls({"no-warm-up", "nosuch"});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("'nosuch'; valid: no-warm-up, "));
  }
}

// --- the report
// -----------------------------------------------------------------------------------

const Pitfall misleading = toy("misleading", [](Workbench&) { return finding_of(3, 1); });
const Pitfall harmless = toy("harmless", [](Workbench&) { return finding_of(1, 1); });
const Pitfall broken = toy("broken", [](Workbench&) -> Finding { throw Error("it broke"); });

TEST_F(PitfallsTest, TheReportHasFiguresWordsAndSamples) {
  const LabReport found = report({misleading, harmless});
  EXPECT_THAT(found.text, HasSubstr("misleading             3.00 s  1.00 s     3.00x too slow\n"));
  EXPECT_THAT(found.text, HasSubstr("  3.00x too slow: WHY.\n  Do not.\n"));
  EXPECT_EQ(found.sentence,
            "1 of 2 mistakes measured here mislead, misleading most of all (3.00x too slow); "
            "without effect here: harmless.");
  EXPECT_EQ(found.outcome.exit_code, exit_ok);
  ASSERT_EQ(json_of(found.data).size(), 2U);
  EXPECT_EQ(json_of(found.data)[0]["factor"], 3.0);
  EXPECT_EQ(json_of(found.data)[0]["misleads"], true);
  EXPECT_EQ(json_of(found.data)[1]["misleads"], false);
  EXPECT_TRUE(json_of(found.data)[0]["reason"].is_null());
  ASSERT_THAT(found.series, SizeIs(4));
  EXPECT_EQ(found.series[0].name, "pitfalls/misleading/mistaken/7x5");
}

TEST_F(PitfallsTest, OneThatFailsLosesOnlyItself) {
  const LabReport found = report({broken, harmless});
  EXPECT_EQ(json_of(found.data)[0]["status"], "failed");
  EXPECT_EQ(json_of(found.data)[0]["reason"], "it broke");
  EXPECT_EQ(json_of(found.data)[1]["status"], "ok");
  EXPECT_EQ(found.outcome.exit_code, exit_error);
  EXPECT_THAT(found.text, HasSubstr("FAILED: broken: it broke"));
}

TEST_F(PitfallsTest, AWrongResultIsNotTimedAndIsExit3) {
  device.wrong = true;
  device.work = 1;
  const LabReport found = report(choose_pitfalls({"copies-timed"}));
  EXPECT_EQ(json_of(found.data)[0]["status"], "failed");
  EXPECT_TRUE(json_of(found.data)[0]["factor"].is_null());
  EXPECT_TRUE(found.series.empty());
  EXPECT_EQ(found.outcome.exit_code, exit_not_verified);
}

TEST_F(PitfallsTest, WithoutAGpuTheOthersAreMeasured) {
  std::vector<Pitfall> chosen = choose_pitfalls({"no-synchronization", "event-pairs"});
  chosen.push_back(harmless);
  const LabReport found = report(chosen, no_backend);
  EXPECT_EQ(json_of(found.data)[0]["status"], "skipped");
  EXPECT_EQ(json_of(found.data)[0]["reason"], "cuda_graph is not here");
  EXPECT_EQ(found.outcome.exit_code, exit_ok);
  EXPECT_THAT(found.text, HasSubstr("not measured: no-synchronization: cuda_graph is not here"));
}

TEST_F(PitfallsTest, AskingOnlyForWhatIsNotHereIsAnError) {
  EXPECT_THROW((void)report(choose_pitfalls({"event-pairs"}), no_backend), Unavailable);
}

TEST_F(PitfallsTest, AnEmulatedDeviceHasNoTimes) {
  std::vector<Pitfall> chosen = choose_pitfalls({"no-synchronization"});
  chosen.push_back(harmless);
  const LabReport found = report(chosen, emulated_backend);
  EXPECT_EQ(json_of(found.data)[0]["status"], "skipped");
  EXPECT_THAT(json_of(found.data)[0]["reason"].get<std::string>(), HasSubstr("emulated"));
}

TEST_F(PitfallsTest, CtrlCKeepsWhatWasMeasured) {
  const Pitfall interrupting = toy("interrupting", [](Workbench& workbench) {
    std::raise(SIGINT);
    const Way way{[] { return 1.0; }, [] { return true; }};
    return workbench.in_turns(way, way);
  });
  std::optional<InterruptGuard> guard(std::in_place);
  const LabReport found = report({misleading, interrupting, harmless});
  EXPECT_TRUE(found.interrupted);
  EXPECT_EQ(json_of(found.data).size(), 1U);
  guard.reset(); // a second signal under the same guard would end the tests
  guard.emplace();
  EXPECT_THROW((void)report({interrupting, misleading}), Interrupted);
  guard.reset();
  guard.emplace(); // nothing is interrupted any more
}

TEST_F(PitfallsTest, WhatOneLeavesOfTheBudgetIsForTheOthers) {
  const Pitfall slow_work = toy("slow-work", [](Workbench& workbench) {
    const Way way{[] { return FakeClock::seconds += 1, 1.0; }, [] { return true; }};
    const double taken = static_cast<double>(workbench.samples(way, 100).size());
    return finding_of(taken, 1); // the reading is the number of samples
  });
  Workbench workbench = bench();
  const LabReport found =
      measure_pitfalls(std::vector{harmless, slow_work, slow_work}, workbench, 40, progress_);
  EXPECT_EQ(json_of(found.data)[1]["factor"], 21.0); // one sample begins at the end of its 20 s
  EXPECT_EQ(json_of(found.data)[2]["factor"], 19.0); // 40 s less 22, with the warm-up
}

} // namespace
} // namespace diffbench::bench
