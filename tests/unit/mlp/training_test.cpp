// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/training.hpp"
#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace diffbench::mlp {
namespace {

using testing::HasSubstr;

struct DiscRun {
  std::vector<float> parameters;
  std::vector<double> losses;
  Quality quality;
};

DiscRun train_disc(const Training& training, std::int64_t epochs, std::int64_t stop_after = 0) {
  const Split split = disc_set(1000, 1);
  const auto engine = require_engine("cpu").make<float>()(training, {});
  DiscRun run{
      .parameters = std::vector<float>(static_cast<std::size_t>(training.network.parameters())),
      .losses = {},
      .quality = {}};
  initialize<float>(training.network, 1, run.parameters);
  train(*engine, training, split.train, {.epochs = epochs}, run.parameters,
        [&](const Epoch& epoch) {
          run.losses.push_back(epoch.loss);
          EXPECT_EQ(epoch.number, static_cast<std::int64_t>(run.losses.size()));
          return epoch.number != stop_after;
        });
  run.quality = *quality_unless({}, *engine, training.network, split.test);
  return run;
}

const Training tutorial{.network = Network({2, 4, 8, 16, 32, 2}), .optimizer = {}, .batch = 100};

TEST(TrainingTest, LearnsTheDisc) {
  const DiscRun run = train_disc(tutorial, 100);
  EXPECT_EQ(run.losses.size(), 100U);
  EXPECT_LT(run.losses.back(), 0.1);
  EXPECT_LT(run.losses.back(), run.losses.front() / 3);
  EXPECT_GT(run.quality.accuracy, 0.95);
  EXPECT_GT(run.quality.macro.f1, 0.9); // and not by calling everything 0
}

TEST(TrainingTest, IsTheSameEveryTime) {
  EXPECT_EQ(train_disc(tutorial, 5).parameters, train_disc(tutorial, 5).parameters);
}

/// The scalar engine, with rows of its own: gathers them as a device would.
class EngineWithData final : public Engine<float>, public ResidentData<float> {
 public:
  explicit EngineWithData(const Training& training)
      : inputs_(static_cast<std::size_t>(training.network.inputs())),
        batch_(static_cast<std::size_t>(training.batch)),
        engine_(require_engine("scalar").make<float>()(training, {})) {}

  void set_data(std::span<const float> features, std::span<const std::int32_t> labels) override {
    features_.assign(features.begin(), features.end());
    labels_.assign(labels.begin(), labels.end());
  }
  void run(std::span<const std::int32_t> order) override {
    ++runs;
    for (std::size_t begin = 0; begin < order.size(); begin += batch_) {
      std::vector<float> features;
      std::vector<std::int32_t> labels;
      for (const std::int32_t row : order.subspan(begin, std::min(batch_, order.size() - begin))) {
        const auto r = static_cast<std::size_t>(row);
        const auto rows = std::span(features_).subspan(r * inputs_, inputs_);
        features.insert(features.end(), rows.begin(), rows.end());
        labels.push_back(labels_[r]);
      }
      engine_->step(features, labels);
    }
  }
  ResidentData<float>* resident_data() override { return this; }

  void set_parameters(std::span<const float> all) override { engine_->set_parameters(all); }
  void get_parameters(std::span<float> all) override { engine_->get_parameters(all); }
  void step(std::span<const float> features, std::span<const std::int32_t> labels) override {
    ++steps;
    engine_->step(features, labels);
  }
  Losses wait() override { return engine_->wait(); }
  void forward(std::span<const float> features, std::span<float> outputs) override {
    engine_->forward(features, outputs);
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

  int runs = 0;
  int steps = 0;

 private:
  std::size_t inputs_;
  std::size_t batch_;
  std::unique_ptr<Engine<float>> engine_;
  std::vector<float> features_;
  std::vector<std::int32_t> labels_;
};

TEST(TrainingTest, ResidentDataAndBatchesAreTheSameTraining) {
  Training training = tutorial;
  training.batch = 30; // of 1000 rows: the last batch is smaller
  const Split split = disc_set(1000, 1);
  std::vector<float> start(static_cast<std::size_t>(training.network.parameters()));
  initialize<float>(training.network, 1, start);
  auto trained = [&](Feed feed, int runs, int steps) {
    EngineWithData engine(training);
    std::vector<float> parameters = start;
    train(engine, training, split.train, {.epochs = 2, .feed = feed}, parameters,
          [](const Epoch&) { return true; });
    EXPECT_EQ(engine.runs, runs);
    EXPECT_EQ(engine.steps, steps);
    return parameters;
  };
  EXPECT_EQ(trained(Feed::resident, 2, 0), trained(Feed::batches, 0, 2 * 34));
}

TEST(TrainingTest, AnEpochThatIsGivenUpLeavesTheParametersBeforeIt) {
  const Split split = disc_set(1000, 1);
  for (const Feed feed : {Feed::resident, Feed::batches}) {
    EngineWithData engine(tutorial);
    std::vector<float> parameters(static_cast<std::size_t>(tutorial.network.parameters()));
    initialize<float>(tutorial.network, 1, parameters);
    std::vector<float> kept = parameters;
    std::int64_t epochs = 0;
    bool ended = false;
    const auto stop = [&] { return std::exchange(ended, epochs == 1); };
    train(engine, tutorial, split.train, {.epochs = 5, .feed = feed, .stop = stop}, parameters,
          [&](const Epoch&) {
            ++epochs;
            engine.get_parameters(kept);
            return true;
          });
    EXPECT_EQ(epochs, 1);
    EXPECT_EQ(parameters, kept);
  }
}

TEST(TrainingTest, CutEpochsAreTheSameTraining) {
  const Split split = disc_set(1000, 1);
  const auto trained = [&](std::function<bool()> stop) {
    EngineWithData engine(tutorial);
    std::vector<float> parameters(static_cast<std::size_t>(tutorial.network.parameters()));
    initialize<float>(tutorial.network, 1, parameters);
    train(engine, tutorial, split.train, {.epochs = 2, .stop = std::move(stop)}, parameters,
          [](const Epoch&) { return true; });
    const Quality quality = *quality_unless({}, engine, tutorial.network, split.test);
    const auto cut = quality_unless([] { return false; }, engine, tutorial.network, split.test);
    EXPECT_EQ(cut->errors, quality.errors);
    EXPECT_FALSE(quality_unless([] { return true; }, engine, tutorial.network, split.test));
    return parameters;
  };
  EXPECT_EQ(trained([] { return false; }), trained({}));
}

TEST(TrainingTest, EndsWhereItIsToldTo) { EXPECT_EQ(train_disc(tutorial, 5, 2).losses.size(), 2U); }

TEST(TrainingTest, ALossThatIsNotFiniteEndsItWithTheLastGoodParameters) {
  Training wild = tutorial;
  wild.optimizer.rate = 1e30;
  const Split split = disc_set(1000, 1);
  const auto engine = require_engine("cpu").make<float>()(wild, {});
  std::vector<float> parameters(static_cast<std::size_t>(wild.network.parameters()));
  initialize<float>(wild.network, 1, parameters);
  const std::vector<float> start = parameters;
  try {
    train(*engine, wild, split.train, {.epochs = 5}, parameters, [](const Epoch&) { return true; });
    FAIL() << "trained";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("not finite in epoch 1, step "));
  }
  EXPECT_EQ(parameters, start);
}

TEST(TrainingTest, WhatDoesNotFitIsRefused) {
  const Split split = disc_set(50, 1);
  auto refusal = [&](const char* layers, std::int64_t batch) -> std::string {
    try {
      check_fits({.network = parse_layers(layers), .optimizer = {}, .batch = batch}, split.train);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("2,4,2", 50), "");
  EXPECT_EQ(refusal("2,4,3", 1), "");
  EXPECT_THAT(refusal("3,4,2", 50), HasSubstr("3 inputs, and disc has 2 features"));
  EXPECT_THAT(refusal("2,4,1", 50), HasSubstr("1 outputs, and disc has 2 classes"));
  EXPECT_THAT(refusal("2,4,2", 51), HasSubstr("51 rows, and disc has 50"));
  EXPECT_THAT(refusal("2,4,2", 0), HasSubstr("0 rows"));
}

} // namespace
} // namespace diffbench::mlp
