// SPDX-License-Identifier: Apache-2.0
// What is made of the times of calls, and what the study of an engine promises.
#include "mlp/latency.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Not;

TEST(LatencySummary, IsThatOfTheSamples) {
  std::vector<double> seconds;
  for (int i = 1; i <= 101; ++i) {
    seconds.push_back(i);
  }
  std::swap(seconds.front(), seconds.back());
  const LatencySummary summary = summarize_latencies(seconds);
  EXPECT_DOUBLE_EQ(summary.mean, 51);
  EXPECT_DOUBLE_EQ(summary.median, 51);
  EXPECT_DOUBLE_EQ(summary.p99.value(), 100);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 101);
  EXPECT_THAT(summary.deviation, DoubleNear(29.3, 0.01)); // with n - 1
}

TEST(LatencySummary, OfFewTimesKnowsNoPercentiles) {
  EXPECT_FALSE(summarize_latencies(std::vector<double>(99, 1)).p99);
  EXPECT_TRUE(summarize_latencies(std::vector<double>(100, 1)).p99);
}

TEST(LatencyHistogram, HasEverySampleInItsBin) {
  const std::vector<double> seconds{1, 1, 1.01, 2, 7, 16};
  const Histogram histogram = histogram_of(seconds);
  ASSERT_EQ(histogram.edges.size(), histogram.counts.size() + 1);
  EXPECT_EQ(histogram.edges.front(), 1);
  EXPECT_EQ(histogram.edges.back(), 16);
  EXPECT_EQ(histogram.counts.front(), 3);
  EXPECT_EQ(histogram.counts.back(), 1);
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0L), 6);
  for (std::size_t i = 0; i + 1 < histogram.edges.size(); ++i) {
    EXPECT_LT(histogram.edges[i], histogram.edges[i + 1]);
  }
}

TEST(LatencyHistogram, OfEqualTimes) {
  const Histogram histogram = histogram_of(std::vector<double>{3, 3});
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0L), 2);
}

// A call of 0.3 ms reads 0 or 1 ms, depending on where it begins.
TEST(LatencyMisreading, OfACoarseClock) {
  std::vector<CallTimes> calls;
  for (const double begin : {0.0101, 0.0203, 0.0305, 0.0408, 0.0509}) {
    calls.push_back({.begin = begin, .end = begin + 0.0003});
  }
  const Misreading misreading = with_coarse_clock(calls, 1e-3);
  EXPECT_EQ(misreading.mistaken, 0);
  EXPECT_EQ(misreading.factor(), 0);
  EXPECT_THAT(misreading.right, DoubleNear(0.0003, 1e-9));
  EXPECT_THAT(misreading.detail, HasSubstr("2 of 5 calls read 1.00 ms"));
}

LatencyJob small_latency_job() {
  LatencyJob job{.network = mlp::Network({5, 8, 3}), .parameters = {}, .session = {}};
  job.batch = 2;
  job.repetitions = 5;
  job.parameters.resize(static_cast<std::size_t>(job.network.parameters()));
  mlp::initialize<float>(job.network, 1, job.parameters);
  return job;
}

TEST(LatencyStudy, OfEveryEngine) {
  for (const mlp::EngineInfo& engine : mlp::all_engines()) {
    if (!engine.probe(0).available) {
      continue;
    }
    LatencyRow row;
    row.device = engine.device;
    study_latency(row, engine, small_latency_job());
    EXPECT_TRUE(row.verified()) << engine.name;
    const bool emulated = engine.device == DeviceKind::emulated;
    EXPECT_EQ(row.samples.size(), emulated ? 0U : 5U);
    EXPECT_EQ(row.misreadings.empty(), emulated);
  }
}

/// Answers with the outputs of another network.
class WrongEngine final : public mlp::Engine<float> {
 public:
  void set_parameters(std::span<const float> /*parameters*/) override {}
  void get_parameters(std::span<float> /*parameters*/) override {}
  void step(std::span<const float> /*features*/,
            std::span<const std::int32_t> /*labels*/) override {}
  mlp::Losses wait() override { return {}; }
  void forward(std::span<const float> /*features*/, std::span<float> outputs) override {
    std::fill(outputs.begin(), outputs.end(), value);
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

  inline static float value = 0;
};

TEST(LatencyStudy, AWrongEngineHasNoTimes) {
  mlp::EngineInfo engine{.name = "wrong", .description = "for the test"};
  engine.make_float32 = [](const mlp::Training&,
                           const SessionOptions&) -> std::unique_ptr<mlp::Engine<float>> {
    return std::make_unique<WrongEngine>();
  };
  for (const float value : {0.0F, std::nanf("")}) {
    WrongEngine::value = value;
    LatencyRow row;
    EXPECT_THROW(study_latency(row, engine, small_latency_job()), Error);
    EXPECT_TRUE(row.wrong());
    EXPECT_TRUE(row.samples.empty());
    const LabReport report = latency_report(small_latency_job(), std::vector{row});
    EXPECT_EQ(report.outcome.exit_code, 3);
    EXPECT_TRUE(report.series.empty());
  }
}

LatencyRow row_of(const char* name, double seconds) {
  LatencyRow row;
  row.name = name;
  row.output_error = 0;
  row.check = check_outputs(0);
  row.add_call(seconds);
  row.add_call(seconds);
  return row;
}

TEST(LatencyReport, NamesTheBestPeerBesideTheBest) {
  const std::vector rows{row_of("cpu", 1e-6), row_of("peer:torch, 1 thread", 4e-6),
                         row_of("peer:torch, 2 threads", 3e-6)};
  EXPECT_THAT(latency_report(small_latency_job(), rows).sentence,
              AllOf(HasSubstr("cpu answers 2 rows in 1.00 us"),
                    HasSubstr("; peer:torch, 2 threads takes 3.00 us")));
  const std::vector other{row_of("cpu", 5e-6), row_of("peer:torch, 1 thread", 4e-6)};
  EXPECT_THAT(latency_report(small_latency_job(), other).sentence,
              AllOf(HasSubstr("peer:torch, 1 thread answers"), Not(HasSubstr("takes"))));
}

TEST(LatencyReport, AWrongRowWeighsMoreThanOneThatFailed) {
  std::vector rows{row_of("cpu", 1e-6), row_of("peer:torch, 1 thread", 1e-6)};
  EXPECT_EQ(latency_report(small_latency_job(), rows).outcome.exit_code, 0);
  EXPECT_THROW(accept_outputs(rows[0], std::nan("")), Error);
  rows[1].status = Status::failed;
  EXPECT_EQ(latency_report(small_latency_job(), rows).outcome.exit_code, 3);
  std::ranges::swap(rows[0], rows[1]);
  EXPECT_EQ(latency_report(small_latency_job(), rows).outcome.exit_code, 3);
}

} // namespace
} // namespace diffbench::bench
