// SPDX-License-Identifier: Apache-2.0
#include "scaling/scaling.hpp"
#include "json.hpp"

#include "oracle_session.hpp"
#include "output.hpp"
#include "sample_result.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <sstream>

namespace diffbench::bench {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(ThreadCounts, GoUpToTheUsableCpus) {
  EXPECT_THAT(thread_counts({}, 1), ElementsAre(1));
  EXPECT_THAT(thread_counts({}, 2), ElementsAre(1, 2));
  EXPECT_THAT(thread_counts({}, 8), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(thread_counts({}, 12), ElementsAre(1, 2, 4, 8, 12));
}

TEST(ThreadCounts, OfAListAreSortedAndHoldOne) {
  EXPECT_THAT(thread_counts(std::array{8, 2, 8}, 2), ElementsAre(1, 2, 8));
}

/// Of 1000x1000 cells, one microsecond times `microseconds` a step on each number of threads.
ScalingStudy study_of(std::vector<std::pair<int, double>> microseconds, double scatter = 0.001) {
  ScalingStudy study;
  study.backend = "toy";
  study.usable_cpus = 4;
  study.cpu_quota = std::numeric_limits<double>::infinity();
  study.why_no_gpu = "no driver";
  study.frame = sample_result();
  study.frame.rows.clear();
  for (const auto& [threads, time] : microseconds) {
    study.points.push_back({study.frame.problem, {}});
    study.points.back().planned.session.threads = threads;
    study.frame.rows.push_back(
        timed_row("toy " + std::to_string(threads), threads, 1e-6 * time, scatter));
  }
  return study;
}

void add_gpu(ScalingStudy& study, double microseconds, double warm_seconds,
             double scatter = 0.001) {
  Row gpu = timed_row("cuda", 1, 1e-6 * microseconds, scatter);
  gpu.device = DeviceKind::cuda;
  Phases warm;
  warm.launch = warm_seconds;
  warm.wall = warm_seconds;
  gpu.warm = warm;
  study.frame.rows.resize(2);
  for (Row& row : study.frame.rows) { // 100 iterations and their copies
    row.warm = Phases{};
    row.warm->wall = 100 * *seconds_per_iteration(row);
  }
  study.points.resize(2);
  study.points.push_back({study.frame.problem, {}});
  study.frame.rows.push_back(gpu);
}

auto recommended(const ScalingStudy& study) {
  return json_of(scaling_report(study).data)["recommended_threads"];
}

TEST(Scaling, TheFewestThreadsWithinFivePercentAreRecommended) {
  EXPECT_EQ(recommended(study_of({{1, 100}, {2, 52}, {4, 50}})), 2);
  EXPECT_EQ(recommended(study_of({{1, 100}, {2, 53}, {4, 50}})), 4);
  EXPECT_EQ(recommended(study_of({{1, 100}, {2, 110}})), 1);
  ScalingStudy none = study_of({{1, 100}});
  none.frame.rows.front().samples.clear();
  EXPECT_TRUE(recommended(none).is_null());
}

TEST(Scaling, ARowOnOtherThreadsThanAskedForAnswersNothing) {
  ScalingStudy study = study_of({{1, 100}, {4, 30}});
  study.frame.rows[1].provenance.threads = 3;
  EXPECT_EQ(recommended(study), 1);
  const LabReport report = scaling_report(study);
  EXPECT_TRUE(json_of(report.data)["fit"].is_null());
  EXPECT_THAT(report.text, HasSubstr("4 (ran on 3)"));
  EXPECT_THAT(report.notes.front(), HasSubstr("ran on 3 threads where 4 were asked for"));
  EXPECT_TRUE(json_of(report.data)["results"][1]["speedup"].is_null());
}

TEST(Scaling, OversubscribedRowsAreNoPartOfTheFit) {
  ScalingStudy study = study_of({{1, 100}, {2, 50}, {4, 25}, {8, 25}});
  LabReport report = scaling_report(study);
  EXPECT_NEAR(json_of(report.data)["fit"]["serial_fraction"].get<double>(), 0, 1e-12);
  EXPECT_EQ(json_of(report.data)["fit"]["points"], 2);
  EXPECT_EQ(json_of(report.data)["results"][3]["oversubscribed"], true);
  EXPECT_THAT(report.text, HasSubstr("8 (oversubscribed)"));
  EXPECT_THAT(report.notes.front(), HasSubstr("on 4 usable CPUs"));
  study.cpu_quota = 2.5;
  report = scaling_report(study);
  EXPECT_EQ(json_of(report.data)["fit"]["points"], 1);
  EXPECT_THAT(report.text, HasSubstr("two thread counts are too few"));
  EXPECT_THAT(report.notes.front(), HasSubstr("the time of 2.50 CPUs"));
}

TEST(Scaling, NoiseLeavesItOpenHowManyThreadsToTake) {
  const ScalingStudy noisy = study_of({{1, 100}, {2, 52}, {4, 50}}, 0.1);
  EXPECT_EQ(recommended(noisy), nullptr);
  const LabReport report = scaling_report(noisy);
  EXPECT_TRUE(json_of(report.data)["recommended_threads"].is_null());
  EXPECT_THAT(
      report.sentence,
      ContainsRegex("toy is fastest on 4 threads.*; 2 threads took 0\\.8[0-9]* to 1\\.2[0-9]* "
                    "times as long, so the order of the two is uncertain; how many are "
                    "enough for 95 % of the best is uncertain\\."));
  // More than 5 % slower or less: that is open at 2 threads, though they are slower for sure.
  EXPECT_EQ(recommended(study_of({{1, 100}, {2, 52.6}, {4, 50}}, 0.01)), nullptr);
}

TEST(Scaling, ABoundNeedsAnIntervalThatHasOne) {
  const LabReport noisy = scaling_report(study_of({{1, 100}, {2, 51}}, 0.2));
  EXPECT_THAT(noisy.text, HasSubstr("(95 % interval 0"));
  EXPECT_THAT(noisy.text, HasSubstr("; the samples set no bound to what more threads gain"));
  EXPECT_THAT(noisy.text, Not(HasSubstr("times as fast")));
}

TEST(Scaling, AReportHasSpeedUpsAndAdvice) {
  const LabReport report = scaling_report(study_of({{1, 100}, {2, 60}, {4, 40}}));
  EXPECT_NEAR(json_of(report.data)["results"][2]["speedup"].get<double>(), 2.5, 1e-12);
  EXPECT_NEAR(json_of(report.data)["results"][2]["efficiency"].get<double>(), 0.625, 1e-12);
  EXPECT_NEAR(json_of(report.data)["results"][2]["serial_fraction"].get<double>(), 0.2, 1e-12);
  EXPECT_TRUE(json_of(report.data)["results"][0]["serial_fraction"].is_null());
  EXPECT_NEAR(json_of(report.data)["fit"]["serial_fraction"].get<double>(), 0.2, 1e-12);
  EXPECT_EQ(json_of(report.data)["recommended_threads"], 4);
  EXPECT_THAT(report.text, ContainsRegex("no number of threads would be more than 5.[0-9]* times"));
  EXPECT_THAT(report.sentence,
              HasSubstr("toy is fastest on 4 threads, 2.50 times as fast as on one"));
  EXPECT_THAT(report.sentence, HasSubstr("no GPU row has a time (no driver)"));
  ASSERT_EQ(report.series.size(), 3U);
  EXPECT_EQ(report.series[1].name, "scaling/toy 2/float32/1000x1000");
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
}

TEST(Scaling, WhereTheLawHasNoSerialFractionItIsSaid) {
  const LabReport slower = scaling_report(study_of({{1, 100}, {2, 136}}));
  EXPECT_THAT(slower.text, HasSubstr("by the law of Amdahl: none: more threads are slower"));
  EXPECT_THAT(slower.text, ContainsRegex("36\\.8 % +172 % "));
  const LabReport faster = scaling_report(study_of({{1, 100}, {2, 40}}));
  EXPECT_THAT(faster.text, HasSubstr("none: n threads are more than n times as fast"));
  EXPECT_LT(json_of(faster.data)["fit"]["serial_fraction"].get<double>(), 0);
}

TEST(Scaling, AGpuIsWorthItFromTenTimesOn) {
  ScalingStudy study = study_of({{1, 100}, {2, 60}});
  add_gpu(study, 4, 500e-6); // 15 times as fast a step, 12 times in a whole run
  LabReport report = scaling_report(study);
  EXPECT_THAT(
      report.sentence,
      HasSubstr("Against the best of the CPU (toy 2) the GPU (cuda) is 15.0 times as fast an "
                "iteration and 12.0 times as fast in a whole run: worth it"));
  EXPECT_EQ(json_of(report.data)["gpu"]["worth_it"], true);
  EXPECT_EQ(report.series.size(), 3U);
  add_gpu(study, 4, 1000e-6); // copies eat it
  report = scaling_report(study);
  EXPECT_THAT(report.sentence, HasSubstr("not worth it"));
  EXPECT_EQ(json_of(report.data)["gpu"]["worth_it"], false);
}

TEST(Scaling, NoiseLeavesAGpusWorthOpen) {
  ScalingStudy study = study_of({{1, 100}, {2, 60}}, 0.2);
  add_gpu(study, 4, 580e-6, 0.2); // 10.3 times as fast in a whole run, give or take
  const LabReport report = scaling_report(study);
  EXPECT_THAT(report.sentence,
              HasSubstr("whether that is worth it is uncertain by the rule of 10"));
  EXPECT_TRUE(json_of(report.data)["gpu"]["worth_it"].is_null());
}

TEST(Scaling, AWrongRowIsShownAndIsExit3) {
  ScalingStudy study = study_of({{1, 100}, {2, 60}});
  study.frame.rows[1].verification->bitwise = false;
  const LabReport report = scaling_report(study);
  EXPECT_EQ(report.outcome.exit_code, exit_not_verified);
  EXPECT_THAT(report.text, HasSubstr("NOT VERIFIED: toy 2"));
  EXPECT_EQ(json_of(report.data)["recommended_threads"], 1);
}

TEST(Scaling, WithoutOneThreadThereAreNoSpeedUps) {
  ScalingStudy study = study_of({{1, 100}, {2, 60}});
  study.frame.rows[0].samples.clear();
  const LabReport report = scaling_report(study);
  EXPECT_TRUE(json_of(report.data)["fit"].is_null());
  EXPECT_TRUE(json_of(report.data)["results"][1]["speedup"].is_null());
  EXPECT_EQ(report.sentence.find("nan"), std::string::npos);
}

TEST(Scaling, WeakSpeedUpsCountTheLargerGrid) {
  ScalingStudy study = study_of({{1, 100}, {2, 125}, {4, 150}});
  study.scaling = Scaling::weak;
  for (PointRow& point : study.points) {
    point.problem.ny *= point.planned.session.threads;
  }
  const LabReport report = scaling_report(study);
  EXPECT_NEAR(json_of(report.data)["results"][1]["speedup"].get<double>(), 1.6, 1e-12);
  EXPECT_NEAR(json_of(report.data)["results"][1]["efficiency"].get<double>(), 0.8, 1e-12);
  EXPECT_EQ(json_of(report.data)["fit"]["law"], "Gustafson");
  EXPECT_EQ(json_of(report.data)["results"][2]["ny"], 4000);
  EXPECT_EQ(report.series[2].name, "scaling/toy 4/float32/1000x4000");
  EXPECT_TRUE(json_of(report.data)["gpu"].is_null());
  EXPECT_THAT(report.sentence, Not(HasSubstr("GPU")));
}

/// The oracle, which says that it ran on as many threads as it was asked for.
class ToySession final : public conformance::OracleSession<float> {
 public:
  ToySession(const Problem& problem, int threads) : OracleSession(problem), threads_(threads) {}
  [[nodiscard]] Provenance provenance() const override {
    return {.threads = threads_, .details = {}};
  }

 private:
  int threads_;
};

TEST(Scaling, IsMeasuredAndVerified) {
  ScalingPlan plan;
  plan.run.problem.nx = 12;
  plan.run.problem.ny = 5;
  plan.run.iterations = 4;
  plan.run.budget_seconds = 0.01;
  plan.backend = {.name = "toy", .description = "for tests", .threaded = true};
  plan.backend.make_float32 = [](const Problem& problem,
                                 const SessionOptions& options) -> std::unique_ptr<Session<float>> {
    return std::make_unique<ToySession>(problem, options.threads);
  };
  plan.threads = {1, 3};
  std::ostringstream out;
  Progress progress(out, false);
  for (const Scaling scaling : {Scaling::strong, Scaling::weak}) {
    plan.scaling = scaling;
    const ScalingStudy study = measure_scaling(plan, progress);
    ASSERT_EQ(study.frame.rows.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      const int threads = plan.threads[i];
      EXPECT_TRUE(study.frame.rows[i].ranked());
      EXPECT_EQ(study.frame.rows[i].provenance.threads, threads);
      EXPECT_EQ(study.points[i].problem.ny, scaling == Scaling::weak ? 5 * threads : 5);
    }
    EXPECT_FALSE(study.frame.interrupted);
  }
}

} // namespace
} // namespace diffbench::bench
