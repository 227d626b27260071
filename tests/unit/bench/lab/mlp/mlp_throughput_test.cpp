// SPDX-License-Identifier: Apache-2.0
// The search for the best batch size, and what ends it.
#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "json.hpp"
#include "mlp/throughput.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <set>
#include <sstream>
#include <utility>

namespace diffbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

bool always(SearchPhase /*phase*/) { return true; }

std::vector<std::int64_t> batches_of(const BatchSearch& search) {
  std::vector<std::int64_t> batches;
  for (const BatchPoint& point : search.curve) {
    batches.push_back(point.batch);
  }
  return batches;
}

/// A rate that is highest at 100.
BatchTrial peak_at_100(std::int64_t batch) {
  const auto b = static_cast<double>(batch);
  return {b < 100 ? b : 10000 / b, {}};
}

TEST(BatchSearch, DoublesThenRefinesRoundTheBest) {
  const BatchSearch search = search_batches(1, 1000, peak_at_100, always);
  // 128 is the best of the doubled, then 91; the last two lie round that.
  EXPECT_THAT(batches_of(search),
              ElementsAre(1, 2, 4, 8, 16, 32, 64, 76, 91, 108, 128, 181, 256, 512, 1000));
  EXPECT_EQ(search.best()->batch, 108);
  EXPECT_THAT(search.ended_by, HasSubstr("largest batch"));
}

TEST(BatchSearch, TriesTheLargestOnce) {
  for (const std::int64_t most : {1, 2, 3, 4}) {
    std::multiset<std::int64_t> tried;
    (void)search_batches(
        1, most,
        [&](std::int64_t batch) {
          tried.insert(batch);
          return BatchTrial{1.0, {}};
        },
        always);
    EXPECT_EQ(tried.count(most), most == 1 ? 2U : 1U) << most; // the first of equals is confirmed
    EXPECT_LE(*tried.rbegin(), most);
  }
}

TEST(BatchSearch, EndsWhereATrialHasNoRate) {
  const auto up_to_16 = [](std::int64_t batch) -> BatchTrial {
    return batch <= 16 ? BatchTrial{static_cast<double>(batch), {}} : BatchTrial{{}, "memory"};
  };
  const BatchSearch search = search_batches(1, 1000, up_to_16, always);
  EXPECT_EQ(search.ended_by, "memory");
  EXPECT_EQ(search.best()->batch, 16);
  EXPECT_EQ(search.curve.back().batch, 16);
}

TEST(BatchSearch, RefinesAfterTheBudgetIsSpent) {
  const BatchSearch search = search_batches(
      1, 1000, peak_at_100,
      [n = 0](SearchPhase phase) mutable { return phase == SearchPhase::refining || n++ < 8; });
  EXPECT_THAT(batches_of(search), ElementsAre(1, 2, 4, 8, 16, 32, 64, 76, 91, 108, 128));
}

TEST(BatchSearch, ASingleSpikeIsNotTheBest) {
  std::multiset<std::int64_t> tried;
  const BatchSearch search = search_batches(
      1, 64,
      [&](std::int64_t batch) {
        tried.insert(batch);
        const bool spike = batch == 4 && tried.count(batch) == 1;
        return BatchTrial{spike ? 1000.0 : 10.0 + static_cast<double>(batch), {}};
      },
      always);
  EXPECT_EQ(search.best()->batch, 64);
  EXPECT_EQ(tried.count(4), 2U);
  EXPECT_EQ(tried.count(64), 2U);
}

TEST(BatchSearch, NothingMeasuredIsNoBest) {
  const BatchSearch search = search_batches(
      1, 8,
      [](std::int64_t /*batch*/) {
        return BatchTrial{{}, "broken"};
      },
      always);
  EXPECT_EQ(search.best(), nullptr);
  EXPECT_EQ(search_batches(1, 8, peak_at_100, [](SearchPhase /*phase*/) { return false; }).ended_by,
            "the time budget");
}

/// The scalar engine up to a batch of 24, beyond which something happens.
template <typename Beyond>
class LimitedEngine final : public mlp::Engine<float> {
 public:
  explicit LimitedEngine(const mlp::Training& training)
      : engine_(mlp::require_engine("scalar").make_float32(training, {})) {
    if (training.batch > 24) {
      beyond_ = true;
      Beyond::when_made();
    }
  }
  void set_parameters(std::span<const float> parameters) override {
    engine_->set_parameters(parameters);
  }
  void get_parameters(std::span<float> parameters) override {
    engine_->get_parameters(parameters);
    Beyond::when_done(beyond_, parameters);
  }
  void step(std::span<const float> features, std::span<const std::int32_t> labels) override {
    engine_->step(features, labels);
  }
  mlp::Losses wait() override { return engine_->wait(); }
  void forward(std::span<const float> features, std::span<float> outputs) override {
    engine_->forward(features, outputs);
    Beyond::when_done(beyond_, outputs);
  }
  [[nodiscard]] Provenance provenance() const override { return engine_->provenance(); }

 private:
  std::unique_ptr<mlp::Engine<float>> engine_;
  bool beyond_ = false;
};

struct OutOfMemory {
  static void when_made() { throw std::bad_alloc(); }
  static void when_done(bool /*beyond*/, std::span<float> /*values*/) {}
};
struct DeviceOutOfMemory {
  static void when_made() { throw Error("cudaMalloc: out of memory"); }
  static void when_done(bool /*beyond*/, std::span<float> /*values*/) {}
};
struct WrongAtTheEnd {
  static void when_made() {}
  static void when_done(bool beyond, std::span<float> values) {
    if (beyond) {
      values.back() += 0.01F;
    }
  }
};

template <typename Beyond>
std::unique_ptr<mlp::Engine<float>> make_limited(const mlp::Training& training,
                                                 const SessionOptions& /*session*/) {
  return std::make_unique<LimitedEngine<Beyond>>(training);
}

ThroughputStudy run(mlp::EngineInfo::Make<float> make, bool training = false,
                    DeviceKind device = DeviceKind::cpu, bool named = false) {
  std::ostringstream shown;
  Progress progress(shown, false);
  const ThroughputSetting setting{
      .network = mlp::Network({20, 10, 3}),
      .engines = {{.name = "limited", .description = "", .device = device, .make_float32 = make}},
      .named = named,
      .session = {},
      .training = training,
      .most_batch = 64,
      .budget_seconds = 1000,
      .batch_seconds = 0.01};
  return measure_throughput(setting, progress);
}

TEST(Throughput, OutOfMemoryEndsTheSearchAndKeepsTheCurve) {
  for (const auto make : {make_limited<OutOfMemory>, make_limited<DeviceOutOfMemory>}) {
    const ThroughputStudy study = run(make);
    const EngineThroughput& engine = study.engines.front();
    EXPECT_TRUE(engine.row.ranked());
    EXPECT_EQ(engine.search.curve.back().batch, 16);
    EXPECT_THAT(engine.search.ended_by, HasSubstr("batches of 32"));
    EXPECT_THAT(engine.search.ended_by, HasSubstr("memory"));
    const LabReport report = throughput_report(study);
    EXPECT_EQ(report.outcome.exit_code, exit_ok);
    EXPECT_EQ(json_of(report.data)["results"][0]["verified_to"], 16);
    EXPECT_THAT(report.sentence, HasSubstr("limited is the fastest"));
    const std::string csv = csv_of(*report.rows);
    EXPECT_THAT(csv, StartsWith("row,device,batch,rows_per_second,verified,verified_to,"));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + std::ssize(engine.search.curve));
  }
}

TEST(Throughput, WrongResultsEndItWithAComplaint) {
  for (const bool training : {false, true}) {
    const ThroughputStudy study = run(make_limited<WrongAtTheEnd>, training);
    EXPECT_FALSE(study.engines.front().row.ranked());
    EXPECT_EQ(throughput_report(study).outcome.exit_code, exit_not_verified) << training;
  }
}

TEST(Throughput, EmulationIsProvedAndHasNoRate) {
  const ThroughputStudy study = run(make_limited<OutOfMemory>, false, DeviceKind::emulated);
  EXPECT_TRUE(study.engines.front().row.check->ok());
  EXPECT_THAT(study.engines.front().search.curve, IsEmpty());
  const LabReport report = throughput_report(study);
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
  EXPECT_THAT(report.series, IsEmpty());
  EXPECT_THAT(report.sentence, Not(HasSubstr("is the fastest")));
}

TEST(Throughput, RatesThatCouldNotBeVerifiedAreNoFailure) {
  ThroughputStudy study = run(make_limited<OutOfMemory>);
  study.engines.front().row.check.reset();
  const LabReport report = throughput_report(study);
  EXPECT_EQ(report.outcome.exit_code, exit_ok);
  EXPECT_THAT(report.notes.back(), HasSubstr("limited: not verified"));
}

TEST(Throughput, ARefusedNetworkIsSkippedOrWhereNamedAnError) {
  const auto refuse = [](const mlp::Training&,
                         const SessionOptions&) -> std::unique_ptr<mlp::Engine<float>> {
    throw Unavailable("no such network");
  };
  const ThroughputStudy study = run(refuse);
  EXPECT_EQ(study.engines.front().row.status, Status::skipped);
  EXPECT_EQ(study.engines.front().row.reason, "no such network");
  EXPECT_THROW((void)run(refuse, false, DeviceKind::cpu, true), Unavailable);
}

TEST(Throughput, BytesGrowWithTheBatch) {
  const mlp::Network network({784, 128, 10});
  EXPECT_GE(batch_bytes(network, 1000), 1000 * 4.0 * 2 * (784 + 128 + 10));
  EXPECT_EQ(batch_bytes(network, 2000), 2 * batch_bytes(network, 1000));
}

} // namespace
} // namespace diffbench::bench
