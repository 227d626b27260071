// SPDX-License-Identifier: Apache-2.0
#include "duel/duel_trials.hpp"

#include "diffbench/errors.hpp"
#include "duel/blocks.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "planted_load.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <sstream>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DuelTrialsTest : public testing::Test {
 protected:
  /// Trials of equal sides and of 5 %, found exactly; before trial `at`, from 0 on, `act` is done.
  LabReport run(int trials, int at, const std::function<void(DuelOutcome&)>& act) {
    int duels = 0;
    const auto duel = [&](double ratio) {
      return [&, ratio](double, std::uint64_t) {
        DuelOutcome found{.ratio = {.value = ratio, .interval = Interval{ratio, ratio, 0.99}},
                          .blocks = 10};
        if (duels++ / 2 == at) {
          act(found);
        }
        return found;
      };
    };
    const std::vector<RunDuel> all{duel(1), duel(1.05)};
    const DuelTrials options{
        .kind = DuelTrialKind::files, .slowdowns = {0.05}, .trials = trials, .trial_seconds = 2};
    return report_duel_trials(options, all, progress_, cache_);
  }

  PlantedLoad load_{"0"};
  TemporaryDirectory place_;
  LineCache cache_{place_.path() / "verdicts"};
  std::ostringstream shown_;
  Progress progress_{shown_, false};
};

TEST_F(DuelTrialsTest, AreCountedRowByRowAndKeptForTheirKind) {
  const LabReport report = run(20, -1, {});
  const auto data = json_of(report.data);
  EXPECT_EQ(data["duel"], "files");
  EXPECT_EQ(data["kinds"][0]["same"], 20);
  EXPECT_EQ(data["kinds"][1]["slower"], 20);
  EXPECT_EQ(data["kinds"][1]["planted_slowdown"], 0.05);
  EXPECT_THAT(report.text, StartsWith("duels of files, 1 s each"));
  EXPECT_EQ(kept_identical_code(cache_, "files")->trials, 20);
  EXPECT_FALSE(kept_identical_code(cache_, "rows"));
}

TEST_F(DuelTrialsTest, OneThatThrowsOrIsNotWellKeepsThoseBeforeIt) {
  const LabReport error = run(20, 18, [](DuelOutcome&) { throw Error("no more processes"); });
  EXPECT_THAT(error.sentence, StartsWith("Of 18 comparisons of identical code 0 got"));
  EXPECT_EQ(error.outcome.exit_code, exit_error);
  EXPECT_EQ(error.outcome.complaint, "no more processes");
  EXPECT_FALSE(kept_identical_code(cache_, "files")) << "what was not well is not kept";
  const LabReport wrong = run(20, 3, [](DuelOutcome&) { throw NotVerified("B: is wrong"); });
  EXPECT_EQ(wrong.outcome.exit_code, exit_not_verified);
  const LabReport not_well = run(20, 3, [](DuelOutcome& found) {
    found.outcome = {exit_not_verified, "same: WRONG"};
    found.troubles = {"same: WRONG"};
  });
  EXPECT_THAT(not_well.sentence, StartsWith("Of 3 comparisons"));
  EXPECT_EQ(not_well.outcome.exit_code, exit_not_verified);
  EXPECT_THAT(not_well.notes, testing::Contains("same: WRONG"));
}

TEST_F(DuelTrialsTest, WithoutAnyTrialSayWhy) {
  const LabReport none = run(20, 0, [](DuelOutcome&) { throw Error("no compiler"); });
  EXPECT_EQ(none.sentence, "No trial could be measured.");
  EXPECT_EQ(none.outcome.complaint, "no compiler");
  EXPECT_THROW((void)run(20, 0, [](DuelOutcome&) { throw Interrupted(); }), Interrupted);
  EXPECT_TRUE(run(20, 1, [](DuelOutcome&) { throw Interrupted(); }).interrupted);
}

} // namespace
} // namespace diffbench::bench
