// SPDX-License-Identifier: Apache-2.0
// One test source for every engine: gradients against finite differences, training against the
// scalar engine in float64, whatever the shape of the network and of the batch.
#include "diffbench/errors.hpp"
#include "training_case.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace diffbench::mlp {
namespace {

using testing::HasSubstr;

const EngineInfo& scalar() {
  static const EngineInfo info = require_engine("scalar");
  return info;
}

std::vector<EngineInfo> runnable_engines() {
  std::vector<EngineInfo> all = all_engines();
  std::erase_if(all, [](const EngineInfo& engine) { return !engine.probe(0).available; });
  return all;
}

class EngineTest : public testing::TestWithParam<EngineInfo> {};

// Layers narrower and wider than any vector, one of a single neuron, no hidden layer at all.
std::vector<Network> networks() {
  std::vector<Network> all;
  all.emplace_back(std::vector<std::int64_t>{3, 2});
  all.emplace_back(std::vector<std::int64_t>{2, 4, 8, 16, 2});
  all.emplace_back(std::vector<std::int64_t>{5, 37, 1, 16, 3});
  all.emplace_back(std::vector<std::int64_t>{17, 33, 15, 10});
  return all;
}

std::vector<Optimizer> optimizers() {
  return {{.rate = 0.1},
          {.rate = 0.05, .weight_decay = 0.01},
          {.rate = 0.05, .momentum = 0.9, .weight_decay = 0.01},
          {.kind = Optimizer::Kind::adam, .rate = 0.01, .weight_decay = 0.001}};
}

/// Mean loss of the rows at these parameters.
double loss_at(Engine<double>& engine, const std::vector<double>& parameters,
               const Rows<double>& rows) {
  engine.set_parameters(parameters);
  engine.step(rows.features, rows.labels);
  return engine.wait().sum / static_cast<double>(rows.labels.size());
}

// With a rate of 1 a step of SGD is the gradient itself.
TEST_P(EngineTest, GradientsAreFiniteDifferences) {
  for (const Network& network : networks()) {
    const std::int64_t batch = 7;
    const auto engine = GetParam().make<double>()(
        {.network = network, .optimizer = {.rate = 1}, .batch = batch}, {});
    const Rows<double> rows = random_rows<double>(network, batch, 5);
    const std::vector<double> start = start_of<double>(network);
    (void)loss_at(*engine, start, rows);
    const std::vector<double> after = parameters_of(*engine, network);
    // A kink of ReLU within the step would spoil the difference: it is small.
    constexpr double h = 1e-6;
    for (std::size_t i = 0; i < start.size(); i += 1 + start.size() / 200) {
      std::vector<double> moved = start;
      moved[i] += h;
      const double above = loss_at(*engine, moved, rows);
      moved[i] -= 2 * h;
      const double below = loss_at(*engine, moved, rows);
      EXPECT_NEAR(start[i] - after[i], (above - below) / (2 * h), 1e-8)
          << to_string(network) << " parameter " << i;
    }
  }
}

TEST_P(EngineTest, TrainsAsTheScalarEngineInFloat64) {
  constexpr int steps = 8; // one on the emulated device takes some 15 ms
  for (const Network& network : networks()) {
    for (const Optimizer& optimizer : optimizers()) {
      for (const std::int64_t batch : {1, 20, 100}) {
        const Training training{.network = network, .optimizer = optimizer, .batch = batch};
        const Trained expected = train<double>(scalar(), training, steps);
        const Trained trained = train<double>(GetParam(), training, steps);
        EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-12) << to_string(network);
        EXPECT_NEAR(trained.loss, expected.loss, 1e-12 * expected.loss);
        const Trained rough = train<float>(GetParam(), training, steps);
        EXPECT_LE(distance(rough.parameters, expected.parameters), 2e-5)
            << to_string(network) << " batch " << batch;
        EXPECT_NEAR(rough.loss, expected.loss, 1e-5 * expected.loss);
      }
    }
  }
}

TEST_P(EngineTest, ForwardOfAnyNumberOfRows) {
  for (const Network& network : networks()) {
    const Training training{.network = network, .optimizer = {}, .batch = 20};
    const auto reference = scalar().make<double>()(training, {});
    const auto engine = GetParam().make<float>()(training, {});
    reference->set_parameters(start_of<double>(network));
    engine->set_parameters(start_of<float>(network));
    for (const std::int64_t count : {1, 2, 3, 19, 20, 21, 45}) {
      const auto size = static_cast<std::size_t>(count * network.classes());
      std::vector<double> expected(size);
      std::vector<float> outputs(size);
      reference->forward(random_rows<double>(network, count, 9).features, expected);
      engine->forward(random_rows<float>(network, count, 9).features, outputs);
      const std::vector<double> widened(outputs.begin(), outputs.end());
      EXPECT_LE(distance(widened, expected), 1e-5) << to_string(network) << " rows " << count;
    }
  }
}

// What lies in buffers from a larger batch, or from inference, is not part of the next step.
TEST_P(EngineTest, EveryStepStandsForItself) {
  const Network network({5, 24, 3});
  const Training training{.network = network, .optimizer = {}, .batch = 40};
  const auto engine = GetParam().make<double>()(training, {});
  const Rows<double> large = random_rows<double>(network, 40, 1);
  const Rows<double> small = random_rows<double>(network, 3, 2);
  auto after_small = [&] {
    engine->set_parameters(start_of<double>(network));
    engine->step(small.features, small.labels);
    (void)engine->wait();
    return parameters_of(*engine, network);
  };
  const std::vector<double> expected = after_small();
  engine->step(large.features, large.labels);
  std::vector<double> outputs(40 * 3);
  engine->forward(large.features, outputs);
  EXPECT_EQ(after_small(), expected);
}

// Nor when it is no number, which no factor of 0 makes harmless.
TEST_P(EngineTest, ABrokenBatchLeavesNothingBehind) {
  const Network network({5, 24, 3});
  const Training training{.network = network, .optimizer = {}, .batch = 40};
  const auto engine = GetParam().make<double>()(training, {});
  Rows<double> broken = random_rows<double>(network, 40, 1);
  std::fill(broken.features.begin(), broken.features.end(), NAN);
  const Rows<double> small = random_rows<double>(network, 3, 2);
  for (int turn = 0; turn < 2; ++turn) { // the second meets all memory that the first has used
    engine->set_parameters(start_of<double>(network));
    engine->step(broken.features, broken.labels);
    engine->step(broken.features, broken.labels);
    EXPECT_EQ(engine->wait().broken, 1);
    engine->set_parameters(start_of<double>(network));
    engine->step(small.features, small.labels);
    EXPECT_EQ(engine->wait().broken, 0);
    for (const double parameter : parameters_of(*engine, network)) {
      ASSERT_TRUE(std::isfinite(parameter));
    }
  }
}

TEST_P(EngineTest, NewParametersStartTheOptimizerAnew) {
  const Network network({5, 24, 3});
  for (const Optimizer& optimizer : optimizers()) {
    const Training training{.network = network, .optimizer = optimizer, .batch = 10};
    const auto engine = GetParam().make<double>()(training, {});
    const Rows<double> rows = random_rows<double>(network, 10, 1);
    auto after_two = [&] {
      engine->set_parameters(start_of<double>(network));
      engine->step(rows.features, rows.labels);
      engine->step(rows.features, rows.labels);
      return parameters_of(*engine, network);
    };
    EXPECT_EQ(after_two(), after_two());
  }
}

TEST_P(EngineTest, NonFiniteValuesAreSeen) {
  const Network network({4, 8, 2});
  const auto engine =
      GetParam().make<float>()({.network = network, .optimizer = {}, .batch = 5}, {});
  engine->set_parameters(start_of<float>(network));
  Rows<float> rows = random_rows<float>(network, 5, 1);
  std::fill(rows.features.begin(), rows.features.begin() + 4, NAN);
  const Rows<float> good = random_rows<float>(network, 5, 2);
  engine->step(good.features, good.labels);
  EXPECT_EQ(engine->wait().broken, 0);
  engine->step(good.features, good.labels);
  engine->step(rows.features, rows.labels);
  engine->step(good.features, good.labels); // everything is NaN from then on
  const Losses losses = engine->wait();
  EXPECT_EQ(losses.broken, 2);
  EXPECT_FALSE(std::isfinite(losses.sum));
}

INSTANTIATE_TEST_SUITE_P(All, EngineTest, testing::ValuesIn(runnable_engines()), engine_name);

TEST(Engines, EveryInstructionSetTrainsAlike) {
  const Training training{
      .network = Network({9, 40, 6}), .optimizer = optimizers().back(), .batch = 33};
  const Trained expected = train<double>(scalar(), training, 10);
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) {
      continue;
    }
    SessionOptions options;
    options.isa = isa;
    for (const double error :
         {distance(train<double>(require_engine("cpu"), training, 10, options).parameters,
                   expected.parameters) *
              1e7,
          distance(train<float>(require_engine("cpu"), training, 10, options).parameters,
                   expected.parameters)}) {
      EXPECT_LE(error, 1e-5) << to_string(isa);
    }
  }
}

TEST(Engines, AnUnknownOneIsRefusedWithTheValidNames) {
  try {
    (void)require_engine("nosuch");
    FAIL() << "found";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("cpu"));
    EXPECT_THAT(error.what(), HasSubstr("scalar"));
  }
}

} // namespace
} // namespace diffbench::mlp
