// SPDX-License-Identifier: Apache-2.0
// What the verbs of networks conclude: only what samples show.
#include "json.hpp"
#include "mlp/latency.hpp"
#include "mlp/sizes.hpp"
#include "mlp/thread_scaling.hpp"
#include "mlp/throughput.hpp"
#include "mlp/train.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// 20 samples of up to `scatter` above and below, in an order of its own for each name.
std::vector<Sample> samples_of(const std::string& name, double seconds, double scatter) {
  std::vector<int> places(20);
  std::iota(places.begin(), places.end(), 0);
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937 random(seed);
  std::ranges::shuffle(places, random);
  std::vector<Sample> samples;
  for (const int place : places) {
    samples.push_back({.iterations = 1,
                       .seconds = seconds * (1 + scatter * (place - 9.5) / 9.5),
                       .cpu_seconds = {},
                       .round = static_cast<int>(samples.size())});
  }
  return samples;
}

RaceRow row_of(const std::string& engine, double seconds, double scatter, int threads = 1) {
  RaceRow row;
  row.engine = engine;
  row.name = engine + ", " + std::to_string(threads) + " thread" + (threads == 1 ? "" : "s");
  row.threads = row.provenance.threads = threads;
  row.check = StepCheck{.steps = 10, .share_of_bound = 0.1};
  row.samples = samples_of(row.name, seconds, scatter);
  return row;
}

/// At sizes 10 and 100, of 162 and 10602 parameters.
SizeStudy sizes(std::vector<std::vector<RaceRow>> races) {
  SizeStudy study{.verb = "width", .symbol = "N", .points = {}};
  std::int64_t width = 10;
  for (std::vector<RaceRow>& rows : races) {
    study.points.push_back({.size = width,
                            .network = mlp::Network({2, width, width, 2}),
                            .race = {.rows = std::move(rows), .reference = "scalar"}});
    width *= 10;
  }
  return study;
}

TEST(SizeReport, NamesTheFastestWhereSamplesShowIt) {
  const LabReport report =
      size_report(sizes({{row_of("cpu", 1, 0.01), row_of("cpu_xtensor", 2, 0.01)},
                         {row_of("cpu", 3, 0.01), row_of("cpu_xtensor", 2, 0.01)}}));
  EXPECT_THAT(report.sentence,
              StartsWith("cpu is the fastest at N = 10; cpu_xtensor at N = 100; whether a GPU"));
  EXPECT_THAT(report.sentence, Not(HasSubstr("uncertain")));
  EXPECT_THAT(report.text, Not(HasSubstr("uncertain")));
}

TEST(SizeReport, NoiseLeavesTheFastestOpen) {
  const LabReport report =
      size_report(sizes({{row_of("cpu", 1, 0.3), row_of("cpu_xtensor", 1.01, 0.3)},
                         {row_of("cpu", 1.01, 0.3), row_of("cpu_xtensor", 1, 0.3)}}));
  EXPECT_THAT(report.sentence, StartsWith("which is the fastest is uncertain at N = 10, 100; "));
  EXPECT_THAT(report.text, HasSubstr("cpu, 1 thread (uncertain)"));
}

TEST(SizeReport, ThreadsOfOneEngineMakeNoContest) {
  const LabReport report = size_report(
      sizes({{row_of("cpu", 1, 0.1), row_of("cpu", 1, 0.1, 2), row_of("scalar", 5, 0.1)}}));
  EXPECT_THAT(report.sentence, StartsWith("cpu is the fastest at N = 10; "));
  EXPECT_THAT(report.text, HasSubstr(" (uncertain)"));
}

TEST(SizeReport, CrossoversOfNoisyNeighboursAreOpen) {
  const auto sentence = [](double scatter) {
    return size_report(sizes({{row_of("cpu", 1, scatter), row_of("peer:torch", 0.96, scatter)},
                              {row_of("cpu", 1, scatter), row_of("peer:torch", 1.04, scatter)}}))
        .sentence;
  };
  EXPECT_THAT(
      sentence(0.001),
      ContainsRegex("; the best engine is faster than the best peer from .* to .* parameters"));
  EXPECT_THAT(sentence(0.3), HasSubstr("; the best engine is faster than the best peer from "));
  EXPECT_THAT(sentence(0.3), HasSubstr("(not settled) parameters"));
}

TEST(SizeReport, IssuingCostsWhatTheSamplesShow) {
  const auto sentence = [](double scatter) {
    return size_report(sizes({{row_of("cpu", 1, scatter), row_of("peer:torch", 1.05, scatter)}}))
        .sentence;
  };
  EXPECT_THAT(sentence(0.001), HasSubstr("are its cost of issuing the operations"));
  EXPECT_THAT(sentence(0.3), Not(HasSubstr("cost of issuing")));
}

StepScaling threads(double two, double scatter) {
  return {.network = mlp::Network({2, 10, 2}),
          .batch = 10,
          .race = {.rows = {row_of("cpu", 1, scatter), row_of("cpu", two, scatter, 2)},
                   .reference = "scalar"},
          .usable_cpus = 2,
          .cpu_quota = std::numeric_limits<double>::infinity()};
}

TEST(StepScalingReport, ThreadsPayWhereSamplesShowIt) {
  EXPECT_THAT(
      step_scaling_report(threads(0.5, 0.01)).sentence,
      StartsWith("cpu is fastest on 2 threads, 2.00 times as fast as on one (100 % of 2 times); "
                 "take 2, the fewest within 5 % of the best. "));
  EXPECT_THAT(
      step_scaling_report(threads(2, 0.01)).sentence,
      StartsWith("cpu is fastest on 1 thread; take 1, the fewest within 5 % of the best. "));
  EXPECT_THAT(step_scaling_report(threads(0.99, 0.3)).sentence,
              HasSubstr("so the order of the two is uncertain; how many are enough for 95 % of the "
                        "best is uncertain. "));
  EXPECT_THAT(step_scaling_report(threads(1.01, 0.3)).sentence,
              HasSubstr("so the order of the two is uncertain; take 1, "));
}

EngineThroughput throughput_of(const std::string& engine, double scatter,
                               const std::vector<std::pair<std::int64_t, double>>& rates) {
  EngineThroughput of;
  of.row = row_of(engine, 1, scatter);
  for (const auto& [batch, rate] : rates) {
    of.samples[batch] = samples_of(engine, static_cast<double>(batch) / rate, scatter);
    of.search.curve.push_back({.batch = batch, .rows_per_second = rate});
  }
  return of;
}

LabReport throughputs(double scatter) {
  return throughput_report(
      {.network = mlp::Network({2, 10, 2}),
       .engines = {throughput_of("cpu", scatter, {{1, 10}, {2, 97}, {4, 100}}),
                   throughput_of("scalar", scatter, {{1, 10}, {2, 20}, {4, 95}})}});
}

TEST(ThroughputReport, NamesBatchesThatSamplesShow) {
  const LabReport report = throughputs(0.001);
  EXPECT_EQ(
      report.sentence,
      "cpu, 1 thread is the fastest, 100 rows a second in batches of 4, and at least 95 % of that "
      "from batches of 2; in batches of 1 it reaches 10.0 % of that.");
  EXPECT_EQ(json_of(report.data)["results"][0]["enough_batch"], 2);
}

TEST(ThroughputReport, NoiseLeavesTheBatchAndTheOrderOpen) {
  const LabReport report = throughputs(0.3);
  EXPECT_THAT(report.sentence, HasSubstr("how small a batch does 95 % of that is uncertain"));
  EXPECT_THAT(report.sentence, HasSubstr("; scalar, 1 thread (for a row) took "));
  EXPECT_THAT(report.sentence, HasSubstr("so the order of the two is uncertain."));
  EXPECT_TRUE(json_of(report.data)["results"][0]["enough_batch"].is_null());
}

LatencyRow latency_of(const std::string& name, double seconds, double scatter) {
  LatencyRow row;
  row.name = name;
  row.check = StepCheck{};
  row.samples = samples_of(name, seconds, scatter);
  return row;
}

TEST(LatencyReport, TheFirstIsAheadWhereSamplesShowIt) {
  const LatencyJob job{.network = mlp::Network({2, 10, 2}), .parameters = {}, .session = {}};
  const auto sentence = [&](double scatter) {
    const std::vector<LatencyRow> rows{latency_of("cpu", 1, scatter),
                                       latency_of("cpu_xtensor", 1.05, scatter)};
    return latency_report(job, rows).sentence;
  };
  EXPECT_THAT(sentence(0.001), Not(HasSubstr("uncertain")));
  EXPECT_THAT(sentence(0.3), HasSubstr("; cpu_xtensor took "));
}

TEST(TrainReport, EpochsAreComparedBySamples) {
  TrainSetting setting{
      .options = {},
      .data = mlp::disc_set(100, 1),
      .training = {.network = mlp::Network({2, 10, 2}), .optimizer = {}, .batch = 10},
      .start = {}};
  const auto report = [&](double scatter) {
    std::vector<Trained> all;
    for (const auto& [name, seconds, ahead] :
         {std::tuple{"cpu", 1.0, false}, {"cpu", 0.95, true}, {"scalar", 1.05, false}}) {
      Trained trained;
      trained.name = trained.engine = name;
      trained.name += ahead ? "+async" : "";
      trained.prefetched = ahead;
      for (const Sample& sample : samples_of(trained.name, seconds, scatter)) {
        mlp::Epoch epoch;
        epoch.wall = sample.seconds;
        trained.add(epoch, StolenTime());
      }
      trained.test = mlp::Quality{};
      all.push_back(std::move(trained));
    }
    return train_report(setting, all);
  };
  const LabReport quiet = report(0.001);
  EXPECT_THAT(quiet.sentence,
              ContainsRegex("^cpu takes 1.00 s an epoch, 1.05 times as fast as scalar;"));
  EXPECT_THAT(quiet.findings.front(), HasSubstr("an epoch is 1.05 times as fast as in turn"));
  const LabReport noisy = report(0.3);
  EXPECT_THAT(noisy.sentence,
              ContainsRegex("^cpu takes .* s an epoch; scalar took 0.* to 1.* uncertain"));
  EXPECT_THAT(noisy.findings.front(), HasSubstr("not shown to be faster or slower than in turn"));
}

} // namespace
} // namespace diffbench::bench
