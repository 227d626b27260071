// SPDX-License-Identifier: Apache-2.0
// The engines' own accounts: exclusive parts that are within the time of the calls.
#include "training_case.hpp"

#include "diffbench/mlp/training.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace diffbench::mlp {
namespace {

double sum_of(const StepTimes& t) {
  return t.data + t.h2d + t.launch + t.forward + t.backward + t.update + t.sync;
}

class StepTimesTest : public testing::TestWithParam<EngineInfo> {};

TEST_P(StepTimesTest, AddUpToNoMoreThanTheCallsTook) {
  const Network network({20, 70, 33, 10});
  const Rows<float> rows = random_rows<float>(network, 50, 1);
  for (const int threads : {1, 2}) {
    SessionOptions options;
    options.threads = threads;
    const auto engine = GetParam().make<float>()(
        {.network = network, .optimizer = {}, .batch = 50, .times = true}, options);
    engine->set_parameters(start_of<float>(network));
    (void)engine->take_times();
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < 20; ++step) {
      engine->step(rows.features, rows.labels);
    }
    (void)engine->wait();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const std::optional<EngineTimes> times = engine->take_times();
    ASSERT_TRUE(times);
    EXPECT_GT(times->host.forward, 0);
    EXPECT_GT(times->host.backward, 0);
    const bool has_team = GetParam().name == "cpu"; // which updates while it goes backward
    EXPECT_EQ(times->host.update > 0, !has_team);
    EXPECT_EQ(times->host.h2d + times->host.launch, 0) << "of a device";
    EXPECT_EQ(times->host.sync > 0, threads > 1 && has_team);
    EXPECT_LE(sum_of(times->host), wall.count());
    EXPECT_EQ(sum_of(engine->take_times()->host), 0);
  }
}

TEST_P(StepTimesTest, AreThereOnlyWhenAskedFor) {
  const Network network({2, 4, 2});
  const auto engine =
      GetParam().make<float>()({.network = network, .optimizer = {}, .batch = 5}, {});
  EXPECT_FALSE(engine->take_times());
}

TEST_P(StepTimesTest, AnEpochHasThoseOfItsOwnStepsAlone) {
  const Split split = disc_set(200, 1);
  const Training training{
      .network = Network({2, 16, 2}), .optimizer = {}, .batch = 50, .times = true};
  std::vector<float> parameters = start_of<float>(training.network);
  const auto engine = GetParam().make<float>()(training, {});
  train(*engine, training, split.train, {.epochs = 3, .feed = Feed::batches}, parameters,
        [](const Epoch& epoch) {
          EXPECT_GT(epoch.wall, 0);
          EXPECT_LE(epoch.times.data + epoch.times.step + epoch.times.wait, epoch.wall);
          EXPECT_TRUE(epoch.engine);
          if (epoch.engine) {
            EXPECT_GT(sum_of(epoch.engine->host), 0);
            EXPECT_LE(sum_of(epoch.engine->host), epoch.wall);
          }
          return true;
        });
}

std::vector<EngineInfo> timed_engines() {
  std::vector<EngineInfo> all = all_engines();
  std::erase_if(all, [](const EngineInfo& engine) {
    return engine.device != DeviceKind::cpu || !engine.probe(0).available;
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cpu, StepTimesTest, testing::ValuesIn(timed_engines()), engine_name);

} // namespace
} // namespace diffbench::mlp
