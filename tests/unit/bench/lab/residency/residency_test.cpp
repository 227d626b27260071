// SPDX-License-Identifier: Apache-2.0
#include "residency/residency.hpp"
#include "json.hpp"

#include "output.hpp"
#include "sample_result.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace diffbench::bench {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PlannedRow planned(std::string_view name, DeviceKind device = DeviceKind::cpu,
                   std::string reason = "") {
  BackendInfo backend{.name = name, .description = "for tests", .device = device};
  return {.backend = backend,
          .probe = {.available = reason.empty(), .reason = std::move(reason)},
          .probe_seconds = device == DeviceKind::cpu ? 0 : 0.25};
}

std::vector<PlannedRow> machine(DeviceKind gpu, const std::string& reason = "") {
  return {planned("xtensor"),
          planned("fused"),
          planned("simd"),
          planned("cuda_naive", gpu, reason),
          planned("cuda_stream", gpu, reason),
          planned("cuda_graph", gpu, reason),
          planned("cuda", gpu, reason)};
}

ResidencyPlan plan() {
  ResidencyPlan plan;
  plan.trips_every = {1, 10};
  return plan;
}

std::vector<std::string> labels(const Ladder& ladder, Place place) {
  std::vector<std::string> names;
  for (const Rung& rung : ladder.rungs) {
    if (rung.place == place) {
      names.push_back(rung.planned.row_name());
    }
  }
  return names;
}

TEST(ResidencyLadder, GoesFromANaivePortToAResidentField) {
  const Ladder ladder = residency_ladder(plan(), machine(DeviceKind::cuda));
  EXPECT_THAT(labels(ladder, Place::cpu), ElementsAre("xtensor", "fused", "simd"));
  EXPECT_THAT(labels(ladder, Place::gpu),
              ElementsAre("cuda_stream, round trip every 1, pageable",
                          "cuda_stream, round trip every 1", "cuda_stream, round trip every 10",
                          "cuda_stream", "cuda_stream, snapshot every 100",
                          "cuda_stream, overlapped snapshot every 100", "cuda_graph", "cuda"));
  EXPECT_THAT(labels(ladder, Place::stand_in), IsEmpty());
  EXPECT_EQ(ladder.why_no_gpu, "");
  const PlannedRow& naive = ladder.rungs[3].planned;
  EXPECT_EQ(naive.session.transfer, Transfer::pageable);
  EXPECT_EQ(naive.roundtrip_every, 1);
  EXPECT_EQ(naive.probe_seconds, 4 * 0.25); // the driver, once
  const PlannedRow& overlapped = ladder.rungs[8].planned;
  EXPECT_EQ(overlapped.session.transfer, Transfer::pinned);
  EXPECT_TRUE(overlapped.session.async);
  EXPECT_EQ(overlapped.snapshot_every, 100);
  EXPECT_EQ(overlapped.probe_seconds, 0);
  EXPECT_EQ(ladder.rungs[8].resident, "cuda_stream");
  EXPECT_EQ(ladder.rungs[3].resident, ""); // its copies are others
}

TEST(ResidencyLadder, AHostStandsInWhereNoGpuCanBeTimed) {
  const Ladder emulated = residency_ladder(plan(), machine(DeviceKind::emulated));
  EXPECT_EQ(labels(emulated, Place::gpu).size(), 8U);
  EXPECT_THAT(labels(emulated, Place::stand_in),
              ElementsAre("simd, round trip every 1", "simd, round trip every 10",
                          "simd, snapshot every 100"));
  const Ladder none = residency_ladder(plan(), machine(DeviceKind::cuda, "no driver"));
  EXPECT_THAT(labels(none, Place::gpu), IsEmpty());
  EXPECT_EQ(labels(none, Place::stand_in).size(), 3U);
  EXPECT_EQ(none.why_no_gpu, "no driver");
  const std::vector<PlannedRow> no_cuda{planned("fused")};
  const Ladder bare = residency_ladder(plan(), no_cuda);
  EXPECT_THAT(labels(bare, Place::stand_in), IsEmpty());
  EXPECT_EQ(bare.why_no_gpu, "cuda_stream is not in this build");
}

TEST(ResidencyLadder, HasNoRungThatWouldNeverVisitTheHost) {
  ResidencyPlan short_run = plan();
  short_run.run.iterations = 9;
  for (const Rung& rung : residency_ladder(short_run, machine(DeviceKind::cuda)).rungs) {
    EXPECT_LE(rung.planned.visits_host_every(), 9) << rung.planned.row_name();
  }
}

/// Rows for the rungs, each with the time that `seconds` has for its name.
ComparisonResult measured(const Ladder& ladder,
                          const std::vector<std::pair<std::string, double>>& seconds,
                          double scatter = 0.001) {
  ComparisonResult result = sample_result();
  result.rows.clear();
  for (const Rung& rung : ladder.rungs) {
    const std::string name = rung.planned.row_name();
    const auto time = std::find_if(seconds.begin(), seconds.end(),
                                   [&](const auto& entry) { return entry.first == name; });
    Row row = timed_row(name, 1, time != seconds.end() ? time->second : 1, scatter);
    row.device = rung.planned.backend.device;
    row.roundtrip_every = rung.planned.roundtrip_every;
    row.snapshot_every = rung.planned.snapshot_every;
    if (time == seconds.end()) { // verified only
      row.samples.clear();
      row.device = DeviceKind::emulated;
    }
    result.rows.push_back(row);
  }
  return result;
}

const std::vector<std::pair<std::string, double>> cpu_times = {
    {"xtensor", 100e-6}, {"fused", 60e-6}, {"simd", 20e-6}};

TEST(ResidencyReport, ANaivePortIsSlowerThanTheCpu) {
  const Ladder ladder = residency_ladder(plan(), machine(DeviceKind::cuda));
  auto times = cpu_times;
  times.insert(times.end(), {{"cuda_stream, round trip every 1, pageable", 500e-6},
                             {"cuda_stream, round trip every 1", 205e-6},
                             {"cuda_stream, round trip every 10", 25e-6},
                             {"cuda_stream, snapshot every 100", 6e-6},
                             {"cuda_stream, overlapped snapshot every 100", 5.25e-6},
                             {"cuda_stream", 5e-6},
                             {"cuda_graph", 4e-6},
                             {"cuda", 1e-6}});
  const LabReport report = residency_report(ladder, measured(ladder, times));
  EXPECT_THAT(report.text, HasSubstr(" gpu "));
  EXPECT_THAT(report.text, Not(HasSubstr("stand_in")));
  EXPECT_THAT(report.sentence,
              HasSubstr("cuda_stream takes 205 us a step when its field goes to the host and back "
                        "every step, 41.0 times as long as when the field stays (5.00 us)"));
  EXPECT_THAT(report.sentence,
              ContainsRegex("\\(5.00 us\\); simd, whose field stays, takes 20.0 us: cuda_stream is "
                            "faster than simd from 13.8 .* steps between two round trips\\."));
  EXPECT_THAT(report.sentence, HasSubstr("Overlapping hides 75 % of what snapshots cost."));
  const LabReport noisy = residency_report(ladder, measured(ladder, times, 0.3));
  EXPECT_THAT(noisy.sentence, HasSubstr("Whether overlapping hides any of what snapshots cost"));
  const auto row = json_of(report.data)["results"][5];
  EXPECT_EQ(row["backend"], "cuda_stream, round trip every 10");
  EXPECT_EQ(row["place"], "gpu");
  EXPECT_NEAR(row["times_resident"].get<double>(), 5, 1e-9);
  EXPECT_NEAR(row["visit_seconds"].get<double>(), 200e-6, 1e-12);
  EXPECT_TRUE(json_of(report.data)["results"][3]["times_resident"].is_null());
  EXPECT_EQ(report.series.size(), 11U);
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
}

TEST(ResidencyReport, AnEmulatedGpuHasNoTimesAndTheHostIsNotTakenForOne) {
  const Ladder ladder = residency_ladder(plan(), machine(DeviceKind::emulated));
  auto times = cpu_times;
  times.insert(times.end(), {{"simd, round trip every 1", 120e-6},
                             {"simd, round trip every 10", 40e-6},
                             {"simd, snapshot every 100", 21e-6}});
  const LabReport report = residency_report(ladder, measured(ladder, times));
  EXPECT_THAT(report.text, HasSubstr(" stand_in "));
  EXPECT_THAT(report.notes.front(), HasSubstr("the host's, not a GPU's"));
  EXPECT_THAT(report.sentence, HasSubstr("What copies cost on a GPU is not measured here (it is "
                                         "emulated, and an emulation is never timed). Within this "
                                         "host: simd takes 120 us"));
  EXPECT_THAT(
      report.sentence,
      HasSubstr("; fused, whose field stays, takes 60.0 us: simd is faster than fused from "));
  const auto data = json_of(report.data);
  for (const auto& row : data["results"]) {
    EXPECT_EQ(row["seconds_per_iteration"].is_null(), row["device"] == "emulated");
  }
}

TEST(ResidencyReport, WithoutAGpuSaysWhy) {
  const Ladder ladder = residency_ladder(plan(), machine(DeviceKind::cuda, "no driver"));
  auto times = cpu_times;
  times.insert(times.end(), {{"simd, round trip every 1", 30e-6},
                             {"simd, round trip every 10", 21e-6},
                             {"simd, snapshot every 100", 20e-6}});
  const LabReport report = residency_report(ladder, measured(ladder, times));
  EXPECT_THAT(report.text, Not(HasSubstr("no driver"))); // once is enough
  EXPECT_THAT(report.sentence, HasSubstr("not measured here (no driver)"));
  EXPECT_THAT(
      report.sentence,
      HasSubstr("; fused, whose field stays, takes 60.0 us: simd is faster than fused at every "));
  EXPECT_EQ(json_of(report.data)["why_no_gpu"], "no driver");
}

TEST(ResidencyReport, AProofWithoutACopyIsNamed) {
  const Ladder ladder = residency_ladder(plan(), machine(DeviceKind::cuda, "no driver"));
  ComparisonResult result = measured(ladder, cpu_times);
  EXPECT_THAT(residency_report(ladder, result).notes, Each(Not(HasSubstr("no copy was verified"))));
  result.rows.back().verification->steps = 99; // a snapshot every 100
  EXPECT_THAT(residency_report(ladder, result).notes,
              Contains(HasSubstr("simd, snapshot every 100: verified after too few steps")));
}

TEST(ResidencyReport, ARowThatIsWrongIsExit3) {
  const Ladder ladder = residency_ladder(plan(), machine(DeviceKind::cuda, "no driver"));
  ComparisonResult result = measured(ladder, cpu_times);
  result.rows.back().verification->bitwise = false;
  EXPECT_EQ(residency_report(ladder, result).outcome.exit_code, exit_not_verified);
}

} // namespace
} // namespace diffbench::bench
