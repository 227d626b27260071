// SPDX-License-Identifier: Apache-2.0
// All engines train networks that are as good as each other's: over seeds on the disc set, and on
// Fashion-MNIST, which scripts/setup installs (Debian's dataset-fashion-mnist).
//
// The emulated GPU is left out: its engines are held to the reference's parameters, step by step,
// in engines_test.cpp, and whole trainings would take it minutes.
#include "training_case.hpp"

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/training.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace diffbench::mlp {
namespace {

constexpr const char* fashion_directory = "/usr/share/datasets/fashion-mnist";

std::vector<EngineInfo> fast_engines() {
  std::vector<EngineInfo> all = all_engines();
  std::erase_if(all, [](const EngineInfo& engine) {
    return engine.device == DeviceKind::emulated || !engine.probe(0).available;
  });
  return all;
}

/// Accuracy on the test rows after `epochs` epochs from the parameters of `seed`.
double accuracy_after(const EngineInfo& info, const Training& training, const Split& split,
                      std::int64_t epochs, std::uint64_t seed) {
  const auto engine = info.make<float>()(training, {});
  std::vector<float> parameters(static_cast<std::size_t>(training.network.parameters()));
  initialize<float>(training.network, seed, parameters);
  train(*engine, training, split.train, {.epochs = epochs, .seed = seed}, parameters,
        [](const Epoch&) { return true; });
  return quality_unless({}, *engine, training.network, split.test)->accuracy;
}

// Rounding lets trainings part, so errors differ by a few of 1000 rows; a wrong engine does not get
// beyond the 87.5 % of the larger class.
TEST(QualityOfEngines, AgreesOverFiveSeedsOnTheDiscSet) {
  const Training tutorial{.network = doubling_network(16), .optimizer = {}, .batch = 50};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Split split = disc_set(1000, seed);
    const double expected = accuracy_after(require_engine("scalar"), tutorial, split, 40, seed);
    EXPECT_GE(expected, 0.93) << "seed " << seed;
    for (const EngineInfo& engine : fast_engines()) {
      EXPECT_NEAR(accuracy_after(engine, tutorial, split, 40, seed), expected, 0.01)
          << engine.name << " seed " << seed;
    }
  }
}

TEST(QualityOfEngines, FashionMnistIsLearntInThreeEpochs) {
  if (!std::filesystem::exists(fashion_directory)) {
    GTEST_SKIP() << fashion_directory << " is not there; apt-get install dataset-fashion-mnist";
  }
  const Split split = read_idx_directory(fashion_directory, "fashion");
  ASSERT_EQ(split.train.rows(), 60000);
  ASSERT_EQ(split.test.rows(), 10000);
  const Training training{.network = Network({784, 128, 10}),
                          .optimizer = {.kind = Optimizer::Kind::adam, .rate = 0.001},
                          .batch = 100};
  for (const EngineInfo& engine : fast_engines()) {
    if (engine.name != "scalar") { // a minute
      EXPECT_GE(accuracy_after(engine, training, split, 3, 1), 0.85) << engine.name;
    }
  }
}

} // namespace
} // namespace diffbench::mlp
