// SPDX-License-Identifier: Apache-2.0
// A small, made-up comparison for the tests of the reports.
#pragma once

#include "result.hpp"

namespace diffbench::bench {

/// Of five samples, up to `scatter` above and below.
inline Row timed_row(const std::string& name, int threads, double seconds_per_iteration,
                     double scatter = 0.1) {
  Row row;
  row.name = name;
  row.provenance.threads = threads;
  row.verification = Verification{.bitwise = true, .steps = 100};
  for (const double step : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    const double factor = 1 + scatter * step;
    row.samples.push_back({.iterations = 10,
                           .seconds = 10 * factor * seconds_per_iteration,
                           .cpu_seconds = 10 * factor * seconds_per_iteration});
  }
  row.setup_seconds = 0.25;
  Phases cold;
  cold.alloc = 0.125;
  cold.compute = 0.5;
  cold.unexplained = 0.375;
  cold.wall = 1;
  row.cold = cold;
  row.peak_host_bytes = 3 << 20;
  return row;
}

/// 1000x1000 float32: 8 MB of traffic a step. slow 10 ms, fast 1 ms, copy 16 GB/s.
inline ComparisonResult sample_result() {
  ComparisonResult result;
  result.command = "diffbench --grid 1000";
  result.problem.nx = 1000;
  result.problem.ny = 1000;
  result.iterations = 100;
  result.baseline = "slow";
  result.budget_seconds = 10;
  result.last_level_cache_bytes = 1 << 20;
  result.copy = CopyBandwidth{.memcpy_bytes_per_second = 12e9,
                              .streaming_bytes_per_second = 16e9,
                              .array_bytes = 1 << 26,
                              .threads = 2};
  result.field = FieldFacts{
      .steps = 100, .sha256 = "abc", .summary = {.min = 0, .max = 1, .sum = 2, .nonfinite = 0}};
  result.context = {{"cpu_model", "Test CPU"}, {"usable_cpus", "2"}, {"isa", "avx2"}};
  result.rows.push_back(timed_row("slow", 1, 10e-3));
  result.rows.push_back(timed_row("fast", 2, 1e-3));
  Row wrong = timed_row("wrong", 1, 1e-6);
  wrong.verification =
      Verification{.bitwise = false, .steps = 100, .max_abs_error = 0.5, .nonfinite = 3};
  wrong.verification->difference = Difference{.cells = 20,
                                              .x = 7,
                                              .y = 0,
                                              .place = FieldPlace::top,
                                              .max_abs_error = 0.5,
                                              .max_ulps = 1 << 20,
                                              .nonfinite = 3};
  wrong.samples.clear();
  result.rows.push_back(wrong);
  Row failed;
  failed.name = "failed";
  failed.status = Status::failed;
  failed.reason = "out of luck, \"really\"";
  result.rows.push_back(failed);
  Row skipped;
  skipped.name = "absent";
  skipped.device = DeviceKind::cuda;
  skipped.status = Status::skipped;
  skipped.reason = "no driver";
  result.rows.push_back(skipped);
  Row peer = timed_row("peer:numpy", 1, 8e-3);
  peer.is_peer = true;
  for (Sample& sample : peer.samples) {
    sample.cpu_seconds.reset();
  }
  result.rows.push_back(peer);
  return result;
}

} // namespace diffbench::bench
