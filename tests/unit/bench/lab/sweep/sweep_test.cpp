// SPDX-License-Identifier: Apache-2.0
// A sweep from options to report, its measurements replaced by instant ones.
#include "json.hpp"
#include "sweep/sweep_journal.hpp"
#include "sweep/sweep_plan.hpp"
#include "sweep/sweep_report.hpp"
#include "sweep/sweep_run.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "statistics.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
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

// --- measuring, interrupted and resumed ----------------------------------------------------------

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

  /// One process: from the file to its end or to Ctrl-C. Returns the points it knows at the end.
  std::vector<SweepPoint> run(bool resume, const std::optional<OptionValues>& options = {}) {
    const InterruptGuard guard;
    const ordered_json header{{"options", options.value_or(plan_.options)}};
    SweepJournal journal(file(), header, resume);
    std::vector<SweepPoint> points = journal.points();
    Progress progress(err_, false);
    run_sweep(
        plan_, points, [this](const ComparisonPlan& o, Progress&) { return measure(o); },
        [&](const SweepPoint& point) { journal.append(point); }, progress);
    return points;
  }

  /// All of the plan without a file, `change(problem, result)` made to each result.
  template <typename Change>
  std::vector<SweepPoint> run_changed(Change change) {
    const InterruptGuard guard;
    std::vector<SweepPoint> points;
    Progress progress(err_, false);
    auto changed = [&](const ComparisonPlan& options, Progress&) {
      ComparisonResult result = measure(options);
      change(options.problem, result);
      return result;
    };
    run_sweep(
        plan_, points, changed, [](const SweepPoint&) {}, progress);
    return points;
  }

  [[nodiscard]] std::filesystem::path file() const { return directory_.path() / "sweep.jsonl"; }
  [[nodiscard]] std::string content() const {
    std::ifstream stream(file());
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  TemporaryDirectory directory_;
  SweepPlan plan_ = planned("64:577:+57", "1:10:+1"); // 10 x 10
  std::map<std::pair<std::int64_t, std::int64_t>, int> measured_;
  DeviceKind device_ = DeviceKind::cuda;
  int calls_ = 0;
  int interrupt_at_ = 0;
  std::ostringstream err_;
};

TEST_F(SweepTest, OfAHundredInterruptedAgainAndAgainMeasuresEachOnce) {
  ASSERT_EQ(plan_.combinations.size(), 100U);
  std::size_t before = 0;
  for (int round = 0; before < 100; ++round) {
    ASSERT_LT(round, 20);
    calls_ = 0;
    interrupt_at_ = 8; // in the middle of the eighth measurement
    const std::string kept = round == 0 ? "" : content();
    const std::size_t known = run(round > 0).size();
    EXPECT_EQ(known, std::min<std::size_t>(before + 7, 100));
    EXPECT_TRUE(content().starts_with(kept)); // what is there is never written again
    before = known;
  }
  EXPECT_EQ(measured_.size(), 100U); // nothing lost
  for (const auto& [key, times] : measured_) {
    EXPECT_EQ(times, 1); // nothing measured twice
  }
  interrupt_at_ = 0;
  EXPECT_EQ(run(true).size(), 100U); // and none is left to do
  EXPECT_EQ(measured_.size(), 100U);
}

TEST_F(SweepTest, ALineCutOffByAKillIsMeasuredAgain) {
  interrupt_at_ = 4;
  (void)run(false);
  const std::string whole = content();
  write(whole.substr(0, whole.size() - 20)); // in the third combination
  measured_.clear();
  interrupt_at_ = 0;
  EXPECT_EQ(run(true).size(), 100U);
  EXPECT_EQ(measured_.size(), 98U);
  std::set<std::string> lines;
  std::istringstream stream(content());
  for (std::string line; std::getline(stream, line);) {
    EXPECT_TRUE(ordered_json::accept(line)) << line;
    lines.insert(line.substr(0, line.find("seconds")));
  }
  EXPECT_EQ(lines.size(), 101U);
}

TEST_F(SweepTest, AnInterruptedFirstLineBeginsAnew) {
  write("{\"opti");
  EXPECT_EQ(run(true).size(), 100U);
  EXPECT_TRUE(content().starts_with("{\"options\""));
}

TEST_F(SweepTest, AFileOfOneLineThatIsNoSweepIsNotTouched) {
  write("{\"precious\": 1}");
  EXPECT_THROW((void)run(true), InvalidInput);
  EXPECT_EQ(content(), "{\"precious\": 1}");
}

TEST_F(SweepTest, RefusesToResumeWhatIsNotItsOwn) {
  interrupt_at_ = 3;
  (void)run(false);
  const std::string good = content();
  const auto refused = [&](const std::string& complaint, bool resume,
                           const std::optional<OptionValues>& options = {}) {
    try {
      (void)run(resume, options);
      ADD_FAILURE() << "accepted; " << complaint;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(complaint));
    }
  };
  refused("exists already", false);
  refused("--iters is [\"1\",", true, [&] {
    auto others = plan_.options;
    others["--iters"] = {"7"};
    return others;
  }());
  refused("--budget is nothing there and [\"3\"] here", true, [&] {
    auto more = plan_.options;
    more["--budget"] = {"3"};
    return more;
  }());
  EXPECT_EQ(content(), good); // and leaves it as it was
  write("not a sweep\n" + good);
  refused("sweep.jsonl: line 1 is not of a sweep", true);
  write(good + "{\"values\":[\"64\",\"1\"]}\n");
  refused("sweep.jsonl: line 4 is not of a sweep", true);
  write(good + good.substr(good.find('\n') + 1));
  refused("is there twice", true);
  std::filesystem::remove(file());
  refused("there is no", true);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(SweepTest, TwoProcessesCannotWriteToOneFile) {
  const SweepJournal first(file(), {{"options", plan_.options}}, false);
  EXPECT_THROW((void)run(true), Error);
}

TEST_F(SweepTest, AFailedMeasurementKeepsWhatCameBefore) {
  const InterruptGuard guard;
  std::vector<SweepPoint> points;
  Progress progress(err_, false);
  auto fails = [this](const ComparisonPlan& options, Progress&) {
    if (measured_.size() == 3) {
      throw Error("out of luck");
    }
    return measure(options);
  };
  std::size_t kept = 0;
  EXPECT_THROW(run_sweep(
                   plan_, points, fails, [&](const SweepPoint&) { ++kept; }, progress),
               Error);
  EXPECT_EQ(kept, 3U);
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
    const ordered_json& row = point.result["results"][1]["end_to_end"];
    EXPECT_DOUBLE_EQ(row["cold_seconds"].get<double>(), 1.25);
  }
}

// --- the report ----------------------------------------------------------------------------------

TEST_F(SweepTest, ReportsWhereTheGpuStartsToWin) {
  plan_ = planned("64:4096:x2", "10,1000");
  const LabReport report = sweep_report(plan_, run(false), {});
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
  const std::vector<SweepPoint> points = run(false);
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

TEST_F(SweepTest, APointWithoutAResultIsRefused) {
  const SweepPlan plan = planned("64", "10");
  const std::vector<SweepPoint> points{
      {.values = {}, .seconds = 1, .result = {{"problem", "none"}}}};
  EXPECT_THROW((void)sweep_report(plan, points, {}), InvalidInput);
}

} // namespace
} // namespace diffbench::bench
