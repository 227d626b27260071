// SPDX-License-Identifier: Apache-2.0
#include "report_json.hpp"

#include "sample_result.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;

ordered_json parsed(const ComparisonResult& result) {
  std::vector<SampleSeries> series;
  for (const Row& row : result.rows) {
    if (row.ranked()) {
      series.push_back(sample_series(result.problem, row, "stencil"));
    }
  }
  return ordered_json::parse( // throws on a bare NaN
      to_text(result_file(result.context, series, to_json(result))));
}

const ordered_json& row_of(const ordered_json& json, const std::string& name) {
  for (const ordered_json& row : json["diffbench"]["results"]) {
    if (row["backend"] == name) {
      return row;
    }
  }
  throw std::out_of_range(name);
}

TEST(Json, HasTheContractsFields) {
  const ordered_json json = parsed(sample_result());
  EXPECT_EQ(json["context"]["json_schema_version"], 1);
  EXPECT_EQ(json["context"]["cpu_model"], "Test CPU");
  EXPECT_EQ(json["diffbench"]["problem"]["nx"], 1000);
  EXPECT_EQ(json["diffbench"]["problem"]["dtype"], "float32");
  EXPECT_EQ(json["diffbench"]["field"]["sha256"], "abc");
  const ordered_json row = row_of(json, "fast");
  EXPECT_EQ(row["device"], "cpu");
  EXPECT_EQ(row["status"], "ok");
  EXPECT_TRUE(row["reason"].is_null());
  EXPECT_EQ(row["verified"]["bitwise"], true);
  EXPECT_DOUBLE_EQ(row["seconds_per_iteration"].get<double>(), 1e-3);
  EXPECT_DOUBLE_EQ(row["cells_per_second"].get<double>(), 1e9);
  EXPECT_EQ(row["samples_seconds"].size(), 5U);
  EXPECT_EQ(row["threads"], 2);
  EXPECT_DOUBLE_EQ(row["end_to_end"]["cold_seconds"].get<double>(), 1);
  EXPECT_TRUE(row["end_to_end"]["warm_seconds"].is_null());
  EXPECT_TRUE(row["phases"].is_null());
}

// A reader divides each by the steps of a sample.
TEST(Json, SamplesOfFewerStepsAreAsLongAsTheFirst) {
  ComparisonResult result = sample_result();
  std::vector<Sample>& samples = result.rows.front().samples;
  samples = {{.iterations = 100, .seconds = 2, .cpu_seconds = {}},
             {.iterations = 25, .seconds = 1, .cpu_seconds = {}}};
  const ordered_json row = parsed(result)["diffbench"]["results"][0];
  EXPECT_EQ(row["iterations_per_sample"], 100);
  EXPECT_EQ(row["samples_seconds"], (ordered_json{2.0, 4.0}));
}

TEST(Json, PhasesAddUpToTheWall) {
  const ordered_json json = parsed(sample_result());
  const ordered_json phases = row_of(json, "fast")["end_to_end"]["cold_phases"];
  ASSERT_EQ(phases.size(), named_phases.size() + 2);
  double sum = 0;
  for (const auto& [name, value] : phases.items()) {
    if (name != "wall" && !value.is_null()) {
      sum += value.get<double>();
    }
  }
  EXPECT_DOUBLE_EQ(sum, phases["wall"].get<double>());
  EXPECT_TRUE(phases["pin"].is_null());
}

TEST(Json, ARowOnADeviceHasBusyTimesAndSpeedups) {
  ComparisonResult result = sample_result();
  Row gpu = timed_row("gpu", 1, 0.1e-3);
  gpu.device = DeviceKind::cuda;
  gpu.roundtrip_every = 10;
  Phases warm;
  warm.compute = 0.02;
  warm.wall = 0.02;
  warm.busy = BusyTimes{.h2d = 0.25, .compute = 0.0125, .d2h = 0.5};
  gpu.warm = warm;
  result.rows.push_back(gpu);
  result.transfers = TransferStudy{.backend = "gpu",
                                   .transfer = Transfer::write_combined,
                                   .bytes = 24,
                                   .setup_seconds = 1,
                                   .pageable = {.h2d = 1, .d2h = 1},
                                   .chosen = {.h2d = 1, .d2h = 2}};
  const ordered_json json = parsed(result);
  const ordered_json row = row_of(json, "gpu");
  EXPECT_EQ(row["roundtrip_every"], 10);
  EXPECT_EQ(row["busy"], (ordered_json{{"h2d", 0.25}, {"compute", 0.0125}, {"d2h", 0.5}}));
  EXPECT_TRUE(row["end_to_end"]["cold_busy"].is_null());
  EXPECT_DOUBLE_EQ(row["speedups"]["vs_baseline"]["kernels_only"].get<double>(), 80);
  EXPECT_DOUBLE_EQ(row["speedups"]["vs_best_cpu"]["per_iteration"].get<double>(), 10);
  EXPECT_TRUE(row["speedups"]["vs_best_cpu"]["warm"].is_null());
  EXPECT_TRUE(row["fraction_of_copy"].is_null()); // the copy is the host's
  const ordered_json& transfers = json["diffbench"]["transfers"];
  EXPECT_EQ(transfers["transfer"], "write-combined");
  EXPECT_DOUBLE_EQ(transfers["saved_seconds_per_trip"].get<double>(), -1);
  EXPECT_TRUE(transfers["trips_to_pay"].is_null()); // never
  EXPECT_TRUE(row_of(json, "fast")["busy"].is_null());
  EXPECT_TRUE(row_of(json, "fast")["speedups"].is_null());
}

TEST(Json, OneBenchmarkEntryASampleInGoogleBenchmarksFormat) {
  const ordered_json json = parsed(sample_result());
  const ordered_json& benchmarks = json["benchmarks"];
  ASSERT_EQ(benchmarks.size(), 27U); // slow, fast and the peer with aggregates; nothing unproved
  const ordered_json& entry = benchmarks[11];
  EXPECT_EQ(entry["name"], "stencil/fast/float32/1000x1000");
  EXPECT_EQ(entry["run_name"], entry["name"]);
  EXPECT_EQ(entry["run_type"], "iteration");
  EXPECT_EQ(entry["repetitions"], 5);
  EXPECT_EQ(entry["repetition_index"], 2);
  EXPECT_EQ(entry["iterations"], 10);
  EXPECT_EQ(entry["time_unit"], "ns");
  EXPECT_NEAR(entry["real_time"].get<double>(), 1e6, 1);
  EXPECT_EQ(entry["cpu_time_is_wall_time"], 0);
  for (const ordered_json& any : benchmarks) {
    EXPECT_TRUE(any["real_time"].is_number());
    EXPECT_TRUE(any["cpu_time"].is_number());
  }
  EXPECT_EQ(benchmarks[26]["cpu_time_is_wall_time"], 1); // the peer
}

TEST(Json, WhatIsNotANumberIsNull) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  ComparisonResult result = sample_result();
  result.field->summary = {.min = nan, .max = infinity, .sum = nan, .nonfinite = 9};
  result.rows[2].verification->max_abs_error = infinity;
  result.rows[1].setup_seconds = nan;
  result.copy->memcpy_bytes_per_second = nan;
  const ordered_json json = parsed(result);
  EXPECT_TRUE(json["diffbench"]["field"]["max"].is_null());
  EXPECT_TRUE(row_of(json, "wrong")["verified"]["max_abs_error"].is_null());
  EXPECT_TRUE(row_of(json, "fast")["setup_seconds"].is_null());
}

TEST(Json, ARowWithoutATimeSaysWhy) {
  const ordered_json json = parsed(sample_result());
  EXPECT_EQ(row_of(json, "absent")["status"], "skipped");
  EXPECT_EQ(row_of(json, "absent")["reason"], "no driver");
  EXPECT_EQ(row_of(json, "absent")["device"], "cuda");
  EXPECT_TRUE(row_of(json, "absent")["seconds_per_iteration"].is_null());
  EXPECT_TRUE(row_of(json, "failed")["verified"].is_null());
  EXPECT_EQ(row_of(json, "wrong")["verified"]["bitwise"], false);
  EXPECT_TRUE(row_of(json, "wrong")["seconds_per_iteration"].is_null());
}

TEST(Json, AnyBytesAreWritten) {
  ComparisonResult result = sample_result();
  result.baseline = "diffbench --json \xff\xfe\n";
  EXPECT_NO_THROW(parsed(result));
}

TEST(Json, OfAnEmptyResult) { EXPECT_NO_THROW(parsed(ComparisonResult{})); }

} // namespace
} // namespace diffbench::bench
