// SPDX-License-Identifier: Apache-2.0
// The self-test's account of trials, of a subject whose times are known.
#include "compare/selftest_trials.hpp"

#include "diffbench/errors.hpp"
#include "json.hpp"
#include "least_effect.hpp"
#include "planted_load.hpp"
#include "ratio.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class SelftestTrials : public testing::Test {
 protected:
  /// Rows that take their planted slowdown exactly, times what the trial's own factor adds to all
  /// but the reference.
  static TrialSession trial(double factor, int rounds = 20) {
    TrialSession trial;
    for (const TrialRow& kind : trial_rows) {
      TimedRow row;
      row.name = kind.label;
      row.provenance.threads = 2;
      const bool reference = trial.rows.empty();
      for (int round = 0; round < rounds; ++round) {
        row.samples.push_back({.iterations = reference ? 10 : 20,
                               .seconds = (reference ? 10 : 20 * factor) * (1 + kind.slowdown),
                               .cpu_seconds = (reference ? 10 : 20 * factor) * (1 + kind.slowdown),
                               .round = round});
      }
      trial.rows.push_back(row);
    }
    return trial;
  }

  /// Of trials whose sessions are all alike; one that is not well ends with its first.
  LabReport run(const std::vector<TrialSession>& trials) {
    std::vector<TrialSession> sessions;
    for (const TrialSession& trial : trials) {
      const bool well = !trial.interrupted && trial.outcome.exit_code == exit_ok;
      sessions.insert(sessions.end(), well ? sessions_of_trial : 1, trial);
    }
    return run_sessions(sessions, std::ssize(trials));
  }

  LabReport run_sessions(const std::vector<TrialSession>& sessions, std::int64_t trials) {
    std::size_t next = 0;
    const TrialSubject subject{.title = "it with itself",
                               .facts = {{"name", "it"}},
                               .trial_seconds = 3,
                               .budget_seconds = budget_,
                               .run = [&](Progress&) { return sessions.at(next++); }};
    return run_trials(subject, trials, progress_, cache_);
  }

  /// Each session is a trial; the rows take what is planted.
  LabReport run_beside(int trials) {
    TrialSession session = trial(1);
    session.rows.pop_back();
    for (Sample& sample : session.rows.back().samples) {
      sample.seconds = 40;
    }
    const TrialSubject subject{.title = "it with itself",
                               .facts = {{"name", "it"}},
                               .trial_seconds = 3,
                               .rows = rows_beside_load,
                               .load = "a storm",
                               .run = [&](Progress&) { return session; }};
    return run_trials(subject, trials, progress_, cache_);
  }

  double budget_ = std::numeric_limits<double>::infinity();
  PlantedLoad load_{"0"};
  TemporaryDirectory place_;
  LineCache cache_{place_.path() / "verdicts"};

  std::ostringstream shown_;
  Progress progress_{shown_, false};
};

TEST_F(SelftestTrials, EachRowIsJudgedAgainstTheReference) {
  const LabReport report = run({trial(1), trial(1), trial(0.9)});
  const ordered_json data = json_of(report.data);
  const auto counts = [&](std::size_t kind) {
    const ordered_json& line = data["kinds"][kind];
    return std::vector<int>{line["faster"], line["slower"], line["same"], line["unclear"]};
  };
  ASSERT_EQ(data["kinds"].size(), 3U);
  EXPECT_EQ(counts(0), (std::vector{1, 0, 2, 0}));
  EXPECT_EQ(counts(1), (std::vector{1, 2, 0, 0})); // 0.945 of the reference in the third trial
  EXPECT_EQ(counts(2), (std::vector{0, 2, 1, 0})); // 0.99
  EXPECT_DOUBLE_EQ(data["kinds"][1]["ratios"][0]["ratio"], 1.05);
  EXPECT_EQ(data["kinds"][2]["planted_slowdown"], 0.10);
  EXPECT_EQ(data["name"], "it");
  EXPECT_EQ(data["trial_seconds"], 3);
  EXPECT_EQ(data["iterations_per_sample"], ordered_json({10, 20}));
  EXPECT_DOUBLE_EQ(data["cpu_share"], 0.5);
  EXPECT_THAT(report.text, StartsWith("it with itself, samples of 10 to 20 steps\n"));
  EXPECT_THAT(report.sentence,
              StartsWith("Of 3 comparisons of identical code 1 got a wrong verdict"));
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
}

TEST_F(SelftestTrials, NoneIsBegunThatDoesNotFitIntoTheBudget) {
  budget_ = 0;
  const LabReport report = run({trial(1), trial(1), trial(1)});
  EXPECT_EQ(json_of(report.data)["kinds"][0]["ratios"].size(), 1U);
  EXPECT_THAT(report.notes, Contains("1 of 3 trials fit into --budget"));
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
}

/// However many rounds each has.
TEST_F(SelftestTrials, OneSessionThatIsSlowForLifeGivesNoVerdict) {
  std::vector<TrialSession> sessions(sessions_of_trial, trial(1, 500));
  sessions[3] = trial(0.9, 500);
  EXPECT_THAT(run_sessions(sessions, 1).sentence,
              HasSubstr("identical code 0 got a wrong verdict"));
  std::fill(sessions.begin(), sessions.end(), trial(0.9));
  EXPECT_THAT(run_sessions(sessions, 1).sentence,
              HasSubstr("identical code 1 got a wrong verdict"));
}

TEST_F(SelftestTrials, TooManyWrongVerdictsAreSaidAndKept) {
  std::vector<TrialSession> trials(20, trial(1));
  EXPECT_EQ(run(trials).outcome.exit_code, exit_ok);
  EXPECT_DOUBLE_EQ(kept_identical_code(cache_)->least_effect, least_effect_in_run);
  std::fill_n(trials.begin(), 5, trial(0.8));
  const LabReport report = run(trials);
  EXPECT_EQ(report.outcome.exit_code, exit_not_verified);
  EXPECT_THAT(report.done, StartsWith("Do not trust verdicts of a few percent here: identical code "
                                      "got 5 in 20 comparisons"));
  ASSERT_TRUE(kept_identical_code(cache_));
  EXPECT_NEAR(kept_identical_code(cache_)->least_effect, 0.25, 1e-6);
  EXPECT_EQ(kept_identical_code(cache_)->wrong, 5);
  EXPECT_EQ(run(std::vector<TrialSession>(9, trial(0.8))).outcome.exit_code,
            exit_ok); // too few to say so
}

// Where the system does not tell of others, the rows' own share does.
TEST_F(SelftestTrials, NothingIsKeptOfRowsThatDidNotGetTheirCpus) {
  unsetenv(planted_load_variable);
  TrialSession starved = trial(1);
  for (TimedRow& row : starved.rows) {
    for (Sample& sample : row.samples) {
      sample.cpu_seconds = 0.4 * sample.seconds;
    }
  }
  const LabReport report = run(std::vector<TrialSession>(20, starved));
  EXPECT_TRUE(report.disturbed);
  EXPECT_FALSE(kept_identical_code(cache_));
}

TEST_F(SelftestTrials, ATrialThatIsNotWellEndsThem) {
  TrialSession wrong = trial(0.5);
  wrong.outcome = {exit_not_verified, "same: is wrong"};
  wrong.troubles = {"same: WRONG"};
  const LabReport some = run({trial(1), wrong, trial(0.5)});
  EXPECT_EQ(some.outcome.exit_code, exit_not_verified);
  EXPECT_THAT(some.sentence, StartsWith("Of 1 comparisons"));
  EXPECT_THAT(some.notes, testing::Contains("same: WRONG"));
  const LabReport none = run({wrong});
  EXPECT_EQ(none.outcome.complaint, "same: is wrong");
  EXPECT_EQ(none.sentence, "No trial could be measured.");
}

TEST_F(SelftestTrials, TooFewSamplesSayWhatToDo) {
  const LabReport report = run({trial(1, 0)});
  EXPECT_EQ(report.outcome.exit_code, exit_error);
  EXPECT_THAT(report.outcome.complaint, HasSubstr("--budget"));
}

TEST_F(SelftestTrials, OneThatWasInterruptedIsNotCounted) {
  TrialSession cut = trial(0.5);
  cut.interrupted = true;
  EXPECT_THAT(run({trial(1), cut}).sentence, StartsWith("Of 1 comparisons"));
}

TEST_F(SelftestTrials, BesideALoadEachSessionIsATrialAndDoctorIsTold) {
  const LabReport report = run_beside(12);
  EXPECT_THAT(report.notes, Contains(StartsWith("beside a storm; the interval of a ratio")));
  EXPECT_EQ(cache_.find(key_beside("a storm")).value_or(""),
            "0 of 12 wrong, 12 of 12 that took twice as long found");
  EXPECT_FALSE(kept_identical_code(cache_)) << "other verbs are not told";
}

} // namespace
} // namespace diffbench::bench
