// SPDX-License-Identifier: Apache-2.0
// Engines on the emulated device: any schedule of threads and streams gives the same bits, products
// that the library has no algorithm for are computed all the same, and the device's limits are met
// with a clear refusal.
#include "../training_case.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>
#include <emulation/cards.hpp>
#include <emulation/control.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::mlp {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<EngineInfo> emulated_engines() {
  std::vector<EngineInfo> all = all_engines();
  std::erase_if(all,
                [](const EngineInfo& engine) { return engine.device != DeviceKind::emulated; });
  return all;
}

class EmulatedEngineTest : public testing::TestWithParam<EngineInfo> {
 protected:
  void TearDown() override {
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
    EXPECT_THAT(emulation::live_resources(), IsEmpty());
    emulation::reset();
  }
};

const Training momentum{.network = Network({5, 40, 9, 3}),
                        .optimizer = {.rate = 0.05, .momentum = 0.9, .weight_decay = 0.01},
                        .batch = 21};

/// The library computes what float64 has fused, which the real one does in float32 only.
emulation::Settings with_epilogues(std::uint64_t seed) {
  return {.seed = seed, .float64_epilogue_status = 0};
}

Trained train_under(const EngineInfo& engine, const Training& training,
                    const emulation::Settings& settings, const SessionOptions& options = {}) {
  emulation::reset(settings);
  return train<double>(engine, training, 6, options);
}

TEST_P(EmulatedEngineTest, EveryScheduleGivesTheSameBits) {
  SessionOptions options;
  options.transfer = Transfer::pinned;
  options.async = true;
  const Trained expected = train_under(GetParam(), momentum, with_epilogues(1), options);
  for (std::uint64_t seed = 2; seed <= 8; ++seed) {
    const Trained trained = train_under(GetParam(), momentum, with_epilogues(seed), options);
    EXPECT_EQ(trained.parameters, expected.parameters) << "seed " << seed;
    EXPECT_EQ(trained.loss, expected.loss) << "seed " << seed;
  }
}

// A schedule that only plain SGD has: weights are updated while gradients of inputs are made.
TEST_P(EmulatedEngineTest, EverySchedulePlainSgdToo) {
  Training sgd = momentum;
  sgd.optimizer.momentum = 0;
  const Trained expected = train_under(GetParam(), sgd, with_epilogues(1));
  for (std::uint64_t seed = 2; seed <= 8; ++seed) {
    EXPECT_EQ(train_under(GetParam(), sgd, with_epilogues(seed)).parameters, expected.parameters)
        << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedEngineTest, testing::ValuesIn(emulated_engines()),
                         engine_name);

class CudaEngineTest : public testing::TestWithParam<std::int64_t> {
 protected:
  void TearDown() override {
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
    emulation::reset();
  }
};

std::string detail_of(const Provenance& provenance, std::string_view wanted) {
  for (const auto& [name, value] : provenance.details) {
    if (name == wanted) {
      return value;
    }
  }
  return "";
}

// From all products by the library to none.
TEST_P(CudaEngineTest, ProductsWithoutAnAlgorithmAreComputedAllTheSame) {
  const EngineInfo scalar = require_engine("scalar");
  const EngineInfo engine = require_engine("cuda");
  for (const Optimizer& optimizer : {Optimizer{.rate = 0.1, .weight_decay = 0.01},
                                     Optimizer{.kind = Optimizer::Kind::adam, .rate = 0.01}}) {
    Training training = momentum;
    training.optimizer = optimizer;
    const Trained expected = train<double>(scalar, training, 6);
    for (const int epilogues : {0, 15}) {
      const Trained trained =
          train_under(engine, training,
                      {.shortest_matmul_side = GetParam(), .float64_epilogue_status = epilogues});
      EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-12);
      EXPECT_NEAR(trained.loss, expected.loss, 1e-12 * expected.loss);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ShortestSides, CudaEngineTest, testing::Values(1, 4, 6, 10, 1000));

TEST(CudaEngine, SaysHowManyProductsAreNotTheLibrarys) {
  const EngineInfo engine = require_engine("cuda");
  auto products = [&](std::int64_t shortest) {
    emulation::reset({.shortest_matmul_side = shortest});
    return detail_of(engine.make<float>()(momentum, {})->provenance(), "products");
  };
  EXPECT_EQ(products(1), "cuBLASLt 13.0.0");
  EXPECT_EQ(products(4), "cuBLASLt 13.0.0, 4 of 8 by plain kernels"); // those with 3 classes
  EXPECT_EQ(products(1000), "cuBLASLt 13.0.0, 8 of 8 by plain kernels");
  emulation::reset();
}

// Whatever the library says to an epilogue that it has not, the products are computed without it. A
// plain product that it refuses is an error, and so is a machine out of order.
TEST(CudaEngine, ARefusedEpilogueIsNoError) {
  const Trained expected = train<double>(require_engine("scalar"), momentum, 6);
  for (const int status : {7, 8, 14, 15}) { // invalid value, architecture, internal, not supported
    const Trained trained = train_under(require_engine("cuda"), momentum,
                                        {.seed = 1, .float64_epilogue_status = status});
    EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-12) << status;
    const auto engine = require_engine("cuda").make<double>()(momentum, {});
    EXPECT_EQ(detail_of(engine->provenance(), "products"),
              "cuBLASLt 13.0.0, 5 of 8 by plain kernels");
  }
  for (const int status : {1, 3, 13}) { // not initialized, out of memory, execution failed
    emulation::reset({.float64_epilogue_status = status});
    EXPECT_THROW((void)require_engine("cuda").make<double>()(momentum, {}), Error) << status;
  }
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
  emulation::reset();
}

TEST(CudaEngine, TooLittleMemoryIsRefusedWithTheFigures) {
  emulation::Settings small;
  small.devices.front().memory_bytes = 1 << 20;
  emulation::reset(small);
  Training training = momentum;
  training.batch = 100'000;
  try {
    (void)require_engine("cuda").make<float>()(training, {});
    FAIL() << "made";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(" MB are free; choose a smaller batch"));
  }
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
  emulation::reset();
}

emulation::Settings one_device(const emulation::DeviceSpec& device) {
  emulation::Settings settings;
  settings.devices = {device};
  return settings;
}

std::string multiprocessors_of(const Training& training) {
  const auto engine = require_engine("cuda_persistent").make<double>()(training, {});
  return detail_of(engine->provenance(), "multiprocessors");
}

// Blocks that share a network, with layers that are divided between them and layers that are not.
TEST(CudaPersistent, ManyBlocksTrainAsOneDoes) {
  for (const char* layers : {"20,64,63,2,5", "60,64"}) {
    for (const Optimizer& optimizer : {Optimizer{.rate = 0.1, .weight_decay = 0.01},
                                       Optimizer{.kind = Optimizer::Kind::adam, .rate = 0.01}}) {
      const Training training{.network = parse_layers(layers), .optimizer = optimizer, .batch = 61};
      const Trained expected = train<double>(require_engine("scalar"), training, 3);
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        emulation::reset({.seed = seed});
        EXPECT_EQ(multiprocessors_of(training), "4") << layers;
        const Trained trained = train<double>(require_engine("cuda_persistent"), training, 3);
        EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-12) << layers;
        EXPECT_NEAR(trained.loss, expected.loss, 1e-12 * expected.loss);
      }
    }
  }
  EXPECT_EQ(multiprocessors_of({.network = Network({2, 4, 2}), .optimizer = {}}), "1");
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  emulation::reset();
}

// A run of many steps in one launch: values of a step lie apart from those of the next, and blocks
// do not overtake each other.
TEST(CudaPersistent, ManyBlocksRunManySteps) {
  for (const char* layers : {"20,64,63,5", "60,64"}) {
    const Training training{
        .network = parse_layers(layers), .optimizer = {.rate = 0.05}, .batch = 60};
    const Rows<double> rows = random_rows<double>(training.network, 290, 1);
    std::vector<std::int32_t> order(290);
    std::iota(order.begin(), order.end(), 0);
    auto run = [&](const char* name) {
      const auto engine = require_engine(name).make<double>()(training, {});
      engine->set_parameters(start_of<double>(training.network));
      engine->resident_data()->set_data(rows.features, rows.labels);
      engine->resident_data()->run(order);
      (void)engine->wait();
      return parameters_of(*engine, training.network);
    };
    const std::vector<double> expected = run("cuda");
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      emulation::reset({.seed = seed});
      EXPECT_LE(distance(run("cuda_persistent"), expected), 1e-13) << layers << " seed " << seed;
    }
  }
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  emulation::reset();
}

TEST(CudaPersistent, ANetworkThatDoesNotFitIsRefusedWithTheFigures) {
  auto refusal = [](const char* layers) -> std::string {
    try {
      (void)require_engine("cuda_persistent")
          .make<float>()({.network = parse_layers(layers), .optimizer = {}}, {});
      return "";
    } catch (const Unavailable& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("100,128,10"), "");
  EXPECT_EQ(refusal("784,128,10"),
            "engine 'cuda_persistent' would keep 412 KB of 784,128,10 in each of 4 "
            "multiprocessors, and Emulated device has 227 KB of shared memory there; take engine "
            "'cuda'");
  EXPECT_THAT(refusal("2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2"), HasSubstr("takes 16 layers at most"));
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
  emulation::reset(one_device({.multiprocessors = 132}));
  EXPECT_EQ(refusal("784,128,10"), "");
  emulation::reset(one_device({.cluster_launch = false}));
  EXPECT_EQ(refusal("2,4,8,16,2"), "");
  EXPECT_THAT(refusal("100,256,10"), HasSubstr(" in each of 1 multiprocessors, and Emulated device "
                                               "has 227 KB of shared memory there, and no clusters "
                                               "of multiprocessors; take engine 'cuda'"));
  emulation::reset();
}

// A card with clusters whose kernels were compiled for one without: their barrier would be the
// block's.
TEST(CudaPersistent, CodeForAnOlderCardHasOneBlock) {
  const Training training{.network = parse_layers("20,64,63,2,5"), .optimizer = {}, .batch = 30};
  EXPECT_EQ(multiprocessors_of(training), "4");
  emulation::reset(one_device({.code_for = 80}));
  EXPECT_EQ(multiprocessors_of(training), "1");
  const Trained expected = train<double>(require_engine("scalar"), training, 3);
  const Trained trained = train<double>(require_engine("cuda_persistent"), training, 3);
  EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-12);
  emulation::reset();
}

// The figures of a step on a card with many multiprocessors (docs/gpu.md).
TEST(CudaPersistent, TheTutorialsNetOnSixteenMultiprocessors) {
  const Training training{
      .network = doubling_network(256), .optimizer = {.rate = 0.1}, .batch = 100};
  emulation::reset(one_device({.multiprocessors = 132}));
  const Provenance found =
      require_engine("cuda_persistent").make<float>()(training, {})->provenance();
  EXPECT_EQ(detail_of(found, "multiprocessors"), "16");
  EXPECT_EQ(detail_of(found, "division"), "4 of rows x 4 of features");
  EXPECT_EQ(detail_of(found, "barriers_a_step"), "8");
  const Trained trained = train<float>(require_engine("cuda_persistent"), training, 2);
  const Trained expected = train<double>(require_engine("scalar"), training, 2);
  EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-6);
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  emulation::reset();
}

/// What each kind of card makes of a network that needs much shared memory.
TEST(CudaPersistent, KeepsOrRefusesANetworkByTheLimitsOfTheCard) {
  const Training training{
      .network = parse_layers("100,128,10"), .optimizer = {.rate = 0.1}, .batch = 30};
  const Trained expected = train<double>(require_engine("scalar"), training, 2);
  for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
    SCOPED_TRACE(capability);
    emulation::reset(one_device(emulation::card(capability)));
    std::string refusal;
    try {
      const Trained trained = train<float>(require_engine("cuda_persistent"), training, 2);
      EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-6);
    } catch (const Unavailable& error) {
      refusal = error.what();
    }
    const bool fits =
        capability == 80 || capability == 90 || capability == 100 || capability == 120;
    EXPECT_EQ(refusal.empty(), fits) << refusal;
    if (!fits) {
      EXPECT_THAT(refusal, HasSubstr(" KB of shared memory there, and no clusters of "
                                     "multiprocessors; take engine 'cuda'"));
    }
    const Trained trained = train<float>(require_engine("cuda"), training, 2); // takes all
    EXPECT_LE(distance(trained.parameters, expected.parameters), 1e-6);
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
  }
  emulation::reset();
}

TEST(CudaEngine, IsNotAvailableWithoutADriver) {
  emulation::reset({.driver = false});
  EXPECT_THROW((void)require_engine("cuda"), Unavailable);
  emulation::reset();
}

} // namespace
} // namespace diffbench::mlp
