// SPDX-License-Identifier: Apache-2.0
// A sweep from options to report, its measurements replaced by instant ones.
#include "json.hpp"
#include "sweep/sweep_plan.hpp"
#include "sweep/sweep_report.hpp"
#include "sweep/sweep_run.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <sstream>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

// --- the plan ------------------------------------------------------------------------------------

SweepPlan planned(const std::map<std::string, std::string>& typed) {
  SweptOptions swept;
  for (const auto& [option, text] : typed) {
    swept.list.type(option, {text});
  }
  return plan_sweep(swept);
}

SweepPlan planned(const std::string& grid, const std::string& iters) {
  return planned({{"--grid", grid}, {"--iters", iters}});
}

TEST(SweepPlan, CombinesAllAxesGridsFastest) {
  const SweepPlan plan =
      planned({{"--grid", "64:256:x2"}, {"--iters", "10,20"}, {"--dtype", "float64"}});
  ASSERT_EQ(plan.axes.size(), 2U); // a single dtype is none
  EXPECT_EQ(plan.axes[0].option, "--grid");
  ASSERT_EQ(plan.combinations.size(), 6U);
  EXPECT_THAT(plan.combinations[1].values, ElementsAre("128", "10"));
  EXPECT_THAT(plan.combinations[3].values, ElementsAre("64", "20"));
  const ComparisonPlan& last = plan.combinations[5].run;
  EXPECT_EQ(last.problem.nx, 256);
  EXPECT_EQ(last.iterations, 20);
  EXPECT_EQ(last.problem.dtype, Dtype::float64);
}

TEST(SweepPlan, TakesAnyOption) {
  const SweepPlan plan = planned({{"--dtype", "float32,float64"},
                                  {"--boundary", "periodic,neumann"},
                                  {"--dt", "0.05,0.1"},
                                  {"--threads", "1,2"},
                                  {"--transfer", "pageable,pinned"}});
  EXPECT_EQ(plan.combinations.size(), 32U);
  const ComparisonPlan& last = plan.combinations.back().run;
  EXPECT_EQ(last.session.threads, 2);
  EXPECT_EQ(last.session.transfer, Transfer::pinned);
  EXPECT_EQ(last.problem.boundary, Boundary::neumann);
}

TEST(SweepPlan, SaysHowManyAreTooMany) {
  try {
    (void)planned("100:8191:+1", "1:1000000:+1");
    ADD_FAILURE() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("8092000000 combinations"));
  }
  EXPECT_EQ(planned("101:200:+1", "1:100:+1").combinations.size(), 10'000U);
}

TEST(SweepPlan, RefusesAnyBadValueBeforeTheFirstMeasurement) {
  EXPECT_THROW((void)planned("64,2", "10"), InvalidInput);
  EXPECT_THROW((void)planned("64", "10,0"), InvalidInput);
}

// --- measuring -----------------------------------------------------------------------------------

/// What the champion and the challenger take for a step on that grid: they meet at 256.
double champion_step(const Problem& problem) { return 1e-9 * static_cast<double>(problem.cells()); }
double challenger_step(const Problem& problem) {
  return 256e-9 * std::sqrt(static_cast<double>(problem.cells()));
}

Row swept_row(const std::string& name, DeviceKind device, double step, double once,
              std::int64_t iterations) {
  Row row;
  row.name = name;
  row.device = device;
  row.verification = Verification{.bitwise = true, .steps = iterations};
  for (int i = 0; i < 5; ++i) {
    row.samples.push_back({.iterations = 10, .seconds = 10 * step, .cpu_seconds = {}});
  }
  row.warm = Phases{};
  row.warm->wall = once + step * static_cast<double>(iterations);
  return row;
}

class SweepTest : public testing::Test {
 protected:
  /// Counts, and interrupts where told.
  ComparisonResult measure(const ComparisonPlan& options) {
    const auto key = std::pair{options.problem.nx, options.iterations};
    if (++calls_ == interrupt_at_) {
      std::raise(SIGINT);
      throw Interrupted();
    }
    ++measured_[key];
    ComparisonResult result;
    result.problem = options.problem;
    result.iterations = options.iterations;
    const Problem& problem = options.problem;
    result.rows = {
        swept_row("slow", DeviceKind::cpu, champion_step(problem), 0, options.iterations),
        swept_row("fast", device_, challenger_step(problem), 1e-3, options.iterations)};
    return result;
  }

  std::vector<SweepPoint> run() {
    return run_changed([](const Problem&, ComparisonResult&) {});
  }

  /// All of the plan, `change(problem, result)` made to each result.
  template <typename Change>
  std::vector<SweepPoint> run_changed(Change change) {
    const InterruptGuard guard;
    Progress progress(err_, false);
    auto changed = [&](const ComparisonPlan& options, Progress&) {
      ComparisonResult result = measure(options);
      change(options.problem, result);
      return result;
    };
    return run_sweep(plan_, changed, progress);
  }

  SweepPlan plan_ = planned("64:577:+57", "1:10:+1"); // 10 x 10
  std::map<std::pair<std::int64_t, std::int64_t>, int> measured_;
  DeviceKind device_ = DeviceKind::cuda;
  int calls_ = 0;
  int interrupt_at_ = 0;
  std::ostringstream err_;
};

TEST_F(SweepTest, MeasuresEachOnceInTheirOrderUntilCtrlC) {
  EXPECT_EQ(run().size(), 100U);
  EXPECT_EQ(measured_.size(), 100U);
  interrupt_at_ = 108; // in the middle of the eighth measurement
  const std::vector<SweepPoint> some = run();
  ASSERT_EQ(some.size(), 7U);
  EXPECT_EQ(some.back().values, plan_.values(6));
  const LabReport report = sweep_report(plan_, some, {});
  EXPECT_TRUE(report.interrupted);
  EXPECT_THAT(report.text, HasSubstr("; 7 measured so far"));
}

TEST_F(SweepTest, ColdRunsAfterTheFirstAreChargedWithTheContext) {
  plan_ = planned("64,128", "10");
  const auto points = run_changed([this](const Problem&, ComparisonResult& result) {
    Row& row = result.rows[1];
    row.cold = Phases{};
    row.cold->context = calls_ == 1 ? 0.25 : 0.0;
    row.cold->wall = 1 + *row.cold->context;
  });
  EXPECT_EQ(points.size(), 2U);
  for (const SweepPoint& point : points) {
    EXPECT_DOUBLE_EQ(point.result.rows[1].cold->wall, 1.25);
  }
}

// --- the report ----------------------------------------------------------------------------------

TEST_F(SweepTest, ReportsWhereTheGpuStartsToWin) {
  plan_ = planned("64:4096:x2", "10,1000");
  const LabReport report = sweep_report(plan_, run(), {});
  EXPECT_THAT(report.text, HasSubstr("sweep of 14 combinations: 7 grid x 2 iters"));
  EXPECT_THAT(report.text, HasSubstr("from where the GPU wins\nalong "));
  EXPECT_THAT(report.sentence,
              testing::StartsWith("the GPU is faster than the best CPU row from "));
  EXPECT_THAT(report.sentence, HasSubstr("cells a side (by warm run at iters 1000)"));
  // The table is of steps, and has another winner between the two.
  EXPECT_THAT(report.sentence, HasSubstr("; the GPU is faster than the best CPU row from 256 "));
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
  const ordered_json by_step = json_of(report.data)["crossovers"][0];
  EXPECT_EQ(by_step["measure"], "step");
  EXPECT_EQ(by_step["wins"], "from");
  EXPECT_NEAR(by_step["from"].get<double>(), 256, 1e-6);
  EXPECT_EQ(json_of(report.data)["points"].size(), 14U);
  EXPECT_EQ(report.series.size(), 28U);
  // 1 ms more a run at 512 cells a side: 1e-9 * 512^2 against 256e-9 * 512, from 7.6 steps on.
  const auto data = json_of(report.data);
  for (const ordered_json& crossing : data["crossovers"]) {
    if (crossing["along"] == "iters" && crossing["at"]["grid"] == "512") {
      EXPECT_EQ(crossing["wins"], "everywhere");
    }
    if (crossing["along"] == "iters" && crossing["at"]["grid"] == "128") {
      EXPECT_EQ(crossing["wins"], "nowhere");
      EXPECT_TRUE(crossing["from"].is_null());
    }
  }
}

TEST_F(SweepTest, CrossesTwoNamedRowsWithoutAGpu) {
  device_ = DeviceKind::cpu;
  plan_ = planned("64:1024:x2", "1000");
  const std::vector<SweepPoint> points = run();
  EXPECT_THAT(sweep_report(plan_, points, {}).sentence, HasSubstr("No GPU row has a time"));
  const LabReport report = sweep_report(plan_, points, {.champion = "slow", .challenger = "fast"});
  EXPECT_THAT(report.sentence, HasSubstr("fast is faster than slow from 2"));
  EXPECT_EQ(json_of(report.data)["crossovers"][0]["champion"], "slow");
}

TEST_F(SweepTest, KnowsWhichCombinationsWereDisturbed) {
  plan_ = planned("64,128", "10,20");
  const auto points = run_changed([](const Problem& problem, ComparisonResult& result) {
    result.disturbed = problem.nx == 128;
  });
  const LabReport report = sweep_report(plan_, points, {});
  EXPECT_TRUE(report.disturbed);
  EXPECT_THAT(report.notes.back(), testing::StartsWith("other programs were running during 2 of 4 "
                                                       "combinations"));
}

TEST_F(SweepTest, AFailedRowIsSaidAndFailsTheSweep) {
  plan_ = planned("64,128", "10,20");
  const auto points = run_changed([](const Problem& problem, ComparisonResult& result) {
    if (problem.nx == 128) {
      result.rows[1].status = Status::failed;
      result.rows[1].reason = "the device fell off the bus";
      result.rows[1].samples.clear();
    }
  });
  const LabReport report = sweep_report(plan_, points, {});
  EXPECT_EQ(report.outcome.exit_code, exit_error);
  EXPECT_THAT(report.notes, ElementsAre("fast failed: the device fell off the bus (at grid 128, "
                                        "iters 10 and 1 more)"));
  EXPECT_THAT(report.text, HasSubstr(" failed "));
}

// Two levels of times, and a whole run that happened to be at the lower one.
TEST_F(SweepTest, WholeRunsVaryByAFactorAndAreNeverBelowNothing) {
  plan_ = planned("64", "1000");
  const auto samples = [&](double run) {
    const auto points = run_changed([run](const Problem&, ComparisonResult& result) {
      Row& row = result.rows.front();
      row.samples.assign(20, {.iterations = 1, .seconds = 2.2e-6, .cpu_seconds = {}});
      std::ranges::for_each(row.samples.begin(), row.samples.begin() + 9,
                            [](Sample& sample) { sample.seconds = 1e-6; });
      row.warm->wall = run;
    });
    return iteration_seconds(
        sweep_study(plan_, points, Measure::warm).points.front().rows.front().samples);
  };
  EXPECT_GT(std::ranges::min(samples(1.05e-3)), 0.4e-3);
  const std::vector<double> long_runs = samples(5e-3); // of which the steps are 2.2 ms
  EXPECT_NEAR(long_runs.front(), 2.8e-3 + 1e-3, 1e-9);
  EXPECT_NEAR(long_runs.back(), 5e-3, 1e-9);
}

TEST_F(SweepTest, AWrongRowIsShownAndHasNoTime) {
  plan_ = planned("64,128", "10");
  const auto points = run_changed([](const Problem& problem, ComparisonResult& result) {
    if (problem.nx == 128) {
      result.rows[1].verification->bitwise = false;
      result.rows[1].samples.clear();
    }
  });
  const LabReport report = sweep_report(plan_, points, {});
  EXPECT_EQ(report.outcome.exit_code, exit_not_verified);
  EXPECT_THAT(report.text, HasSubstr("WRONG"));
  EXPECT_EQ(json_of(report.data)["crossovers"].size(), 0U);
}

} // namespace
} // namespace diffbench::bench
