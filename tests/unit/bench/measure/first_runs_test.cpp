// SPDX-License-Identifier: Apache-2.0
// Cold runs of a row: how many, what is reported of them, and that each is verified.
#include "first_runs.hpp"

#include "diffbench/verify.hpp"
#include "fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;

/// What the timed is told to do, and what it did; a row may drop the timed.
struct Script {
  std::vector<double> walls{1};  ///< of the runs from nothing; the last one is that of all further
  std::vector<double> frees{};   ///< of the releases; after them a release has no time
  std::optional<int> wrong_run;  ///< index of the run whose field is not the reference's
  std::optional<int> short_from; ///< index of the first run that makes half of the steps
  int runs = 0;
  std::size_t releases = 0;
};

class ScriptedSolve final : public TimedSolve<float> {
 public:
  ScriptedSolve(const Problem& problem, Script& script) : problem_(problem), script_(script) {}

  FirstRun first_run(std::span<float> field, std::int64_t steps, double) override {
    const int index = script_.runs++;
    const bool is_short = index >= script_.short_from.value_or(index + 1);
    FirstRun run;
    run.steps = is_short ? steps / 2 : steps;
    Field<float> own(problem_.nx, problem_.ny);
    fill_initial(problem_, InitialField{}, own);
    advance_reference(problem_, own, run.steps);
    std::ranges::copy(own.cells(), field.begin());
    if (index == script_.wrong_run) {
      field[0] += 1;
    }
    run.phases.wall =
        script_.walls[std::min(static_cast<std::size_t>(index), script_.walls.size() - 1)];
    FakeClock::seconds += run.phases.wall;
    return run;
  }
  void fetch(std::span<float>) override {}
  Sample sample(std::int64_t) override { return {}; }
  Phases full_run(std::span<float>, std::int64_t) override { return {}; }
  std::optional<double> release() override {
    const std::size_t index = script_.releases++;
    return index < script_.frees.size() ? std::optional(script_.frees[index]) : std::nullopt;
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  Problem problem_;
  Script& script_;
};

class FirstRunsTest : public testing::Test {
 protected:
  SolveContender<float> measure(double row_seconds = 1e9) {
    options_.problem.nx = 6;
    options_.problem.ny = 5;
    options_.iterations = 8;
    Field<float> field(6, 5);
    FirstRuns<float, FakeClock> runs(options_, field, nobody());
    const FieldFacts facts = runs.compute_reference(1e9, [](double) {});
    EXPECT_EQ(facts.steps, 8);
    SolveContender<float> contender;
    contender.row.device = device_;
    contender.timed = std::make_unique<ScriptedSolve>(options_.problem, script_);
    runs.measure(contender, {.run_seconds = 1e9, .row_seconds = row_seconds});
    runs.prove(contender); // this one takes no other fields
    return contender;
  }

  ComparisonPlan options_;
  Script script_;
  DeviceKind device_ = DeviceKind::cpu;
};

TEST_F(FirstRunsTest, TheMedianRunIsReportedWithTheMedianRelease) {
  script_.walls = {0.009, 0.002, 0.004, 0.003, 0.006};
  script_.frees = {0.5, 0.125, 0.25, 0.375};
  ASSERT_EQ(cold_runs_of_median(0.009), 5);
  const SolveContender<float> contender = measure();
  EXPECT_EQ(script_.runs, 5);
  EXPECT_EQ(script_.releases, 4U); // the last session is the one that is timed
  ASSERT_TRUE(contender.row.cold.has_value());
  EXPECT_DOUBLE_EQ(contender.row.cold->free.value_or(0), 0.3125);
  EXPECT_DOUBLE_EQ(contender.row.cold->wall, 0.004 + 0.3125);
  EXPECT_TRUE(contender.row.verification->bitwise);
  EXPECT_NE(contender.timed, nullptr);
}

TEST_F(FirstRunsTest, ARepetitionThatIsWrongIsFound) {
  script_.wrong_run = 2;
  const SolveContender<float> contender = measure();
  EXPECT_EQ(script_.runs, 3);
  EXPECT_FALSE(contender.row.verification->bitwise);
  EXPECT_EQ(contender.timed, nullptr);
}

TEST_F(FirstRunsTest, AProblemThatDivergesIsNoFaultOfTheRow) {
  options_.problem.dt = 1e9;
  options_.problem.boundary = Boundary::dirichlet;
  options_.problem.boundary_value = 1;
  const SolveContender<float> contender = measure(); // of the very field of the reference
  EXPECT_FALSE(contender.row.verification->bitwise);
  EXPECT_GT(contender.row.verification->nonfinite, 0);
  EXPECT_THAT(contender.row.reason, testing::HasSubstr("the problem diverges: after 8 steps"));
  script_.wrong_run = 1;
  options_.problem.dt = 0.1;
  EXPECT_EQ(measure().row.reason, "");
}

TEST_F(FirstRunsTest, ARowWithoutTimeForMoreMakesOne) {
  const SolveContender<float> contender = measure(0.5);
  EXPECT_EQ(script_.runs, 1);
  EXPECT_EQ(script_.releases, 0U);
  ASSERT_TRUE(contender.row.cold.has_value());
  EXPECT_EQ(contender.row.cold->wall, 1);
  EXPECT_FALSE(contender.row.cold->free.has_value());
}

TEST_F(FirstRunsTest, OnADeviceOnlyTheFirstIsCold) {
  device_ = DeviceKind::cuda;
  EXPECT_TRUE(measure().row.cold.has_value());
  EXPECT_EQ(script_.runs, 1);
}

TEST_F(FirstRunsTest, AShorterRepetitionDoesNotCount) {
  script_.walls = {3, 1};
  script_.short_from = 1;
  const SolveContender<float> contender = measure();
  EXPECT_EQ(script_.runs, 2);
  ASSERT_TRUE(contender.row.cold.has_value());
  EXPECT_EQ(contender.row.cold->wall, 3);
}

TEST_F(FirstRunsTest, ARunThatCouldNotAffordAllStepsIsVerifiedAndHasNoColdTime) {
  script_.short_from = 0;
  const SolveContender<float> contender = measure();
  EXPECT_EQ(contender.row.verification->steps, 4);
  EXPECT_TRUE(contender.row.verification->bitwise);
  EXPECT_FALSE(contender.row.cold.has_value());
}

} // namespace
} // namespace diffbench::bench
