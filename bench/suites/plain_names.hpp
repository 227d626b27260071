// SPDX-License-Identifier: Apache-2.0
// Google Benchmark writes how it timed into the names ("/iterations:100/process_time/real_time"),
// so that they could not be compared with those of `diffbench --json`. This reporter hands
// everything on to another one, with the names as they were registered, and each skipped benchmark
// once instead of once a repetition.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

namespace diffbench::bench {

class PlainNames final : public benchmark::BenchmarkReporter {
 public:
  /// `reporter` must live as long as this one.
  explicit PlainNames(benchmark::BenchmarkReporter& reporter) : reporter_(reporter) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override { reporter_.Finalize(); }

 private:
  benchmark::BenchmarkReporter& reporter_;
};

} // namespace diffbench::bench
