// SPDX-License-Identifier: Apache-2.0
// What engines on a device promise beyond the interface of all: the ways by which rows reach them,
// the halves of a forward pass, and the account of their time.
#include "training_case.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace diffbench::mlp {
namespace {

using testing::HasSubstr;

std::vector<EngineInfo> device_engines() {
  std::vector<EngineInfo> all = all_engines();
  std::erase_if(all, [](const EngineInfo& engine) { return engine.device == DeviceKind::cpu; });
  return all;
}

class DeviceEngineTest : public testing::TestWithParam<EngineInfo> {
 protected:
  void SetUp() override {
    if (const Probe probe = GetParam().probe(0); !probe.available) {
      GTEST_SKIP() << probe.reason;
    }
  }
};

const Network network({5, 24, 7, 3});
const Training adam{
    .network = network, .optimizer = {.kind = Optimizer::Kind::adam, .rate = 0.01}, .batch = 20};
constexpr std::int64_t all_rows = 47; // the last batch has 7 of 20

std::vector<std::int32_t> some_order() {
  std::vector<std::int32_t> order(all_rows);
  std::iota(order.begin(), order.end(), 0);
  std::reverse(order.begin(), order.end());
  std::swap(order[3], order[40]);
  return order;
}

/// The rows that `order` names.
Rows<double> rows_in(const Rows<double>& rows, std::span<const std::int32_t> order) {
  const auto inputs = static_cast<std::size_t>(network.inputs());
  Rows<double> chosen;
  for (const std::int32_t row : order) {
    const auto r = static_cast<std::size_t>(row);
    const auto features = std::span(rows.features).subspan(r * inputs, inputs);
    chosen.features.insert(chosen.features.end(), features.begin(), features.end());
    chosen.labels.push_back(rows.labels[r]);
  }
  return chosen;
}

/// Two epochs by step(); the loss of the second.
Trained train_by_batches(Engine<double>& engine, const Training& training) {
  const std::vector<std::int32_t> order = some_order();
  const Rows<double> rows = rows_in(random_rows<double>(network, all_rows, 1), order);
  const auto batch = static_cast<std::size_t>(training.batch);
  const auto inputs = static_cast<std::size_t>(network.inputs());
  engine.set_parameters(start_of<double>(network));
  Losses losses;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (std::size_t begin = 0; begin < rows.labels.size(); begin += batch) {
      const std::size_t count = std::min(batch, rows.labels.size() - begin);
      // As a caller may: memory that does not outlive the call.
      const std::vector<double> features(
          rows.features.begin() + static_cast<std::ptrdiff_t>(begin * inputs),
          rows.features.begin() + static_cast<std::ptrdiff_t>((begin + count) * inputs));
      engine.step(features, std::span(rows.labels).subspan(begin, count));
    }
    losses = engine.wait();
  }
  return {.parameters = parameters_of(engine, network), .loss = losses.sum};
}

Trained train_resident(Engine<double>& engine) {
  const Rows<double> rows = random_rows<double>(network, all_rows, 1);
  engine.set_parameters(start_of<double>(network));
  engine.resident_data()->set_data(rows.features, rows.labels);
  Losses losses;
  for (int epoch = 0; epoch < 2; ++epoch) {
    engine.resident_data()->run(some_order());
    losses = engine.wait();
  }
  return {.parameters = parameters_of(engine, network), .loss = losses.sum};
}

TEST_P(DeviceEngineTest, EveryWayOfFeedingIsTheSameTraining) {
  const auto reference = require_engine("scalar").make<double>()(adam, {});
  const Trained expected = train_by_batches(*reference, adam);
  for (const Transfer transfer : {Transfer::pageable, Transfer::pinned}) {
    for (const bool async : {false, true}) {
      SessionOptions options;
      options.transfer = transfer;
      options.async = async;
      const auto engine = GetParam().make<double>()(adam, options);
      const Trained fed = train_by_batches(*engine, adam);
      EXPECT_LE(distance(fed.parameters, expected.parameters), 1e-12);
      EXPECT_NEAR(fed.loss, expected.loss, 1e-12 * expected.loss);
      const Trained resident = train_resident(*engine);
      EXPECT_EQ(resident.parameters, fed.parameters) << to_string(transfer);
      EXPECT_EQ(resident.loss, fed.loss);
      // And back, on the same engine.
      EXPECT_EQ(train_by_batches(*engine, adam).parameters, fed.parameters);
    }
  }
}

TEST_P(DeviceEngineTest, AnOrderMayBeLongerThanTheData) {
  const auto engine = GetParam().make<double>()(adam, {});
  const Rows<double> rows = random_rows<double>(network, all_rows, 1);
  std::vector<std::int32_t> twice = some_order();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 20);
  auto after = [&](std::span<const std::int32_t> order) {
    engine->set_parameters(start_of<double>(network));
    engine->resident_data()->run(order);
    (void)engine->wait();
    return parameters_of(*engine, network);
  };
  engine->resident_data()->set_data(rows.features, rows.labels);
  const std::vector<double> long_run = after(twice);
  const Rows<double> doubled = rows_in(rows, twice);
  engine->resident_data()->set_data(doubled.features, doubled.labels);
  std::vector<std::int32_t> plain(twice.size());
  std::iota(plain.begin(), plain.end(), 0);
  EXPECT_EQ(after(plain), long_run);
}

TEST_P(DeviceEngineTest, OtherWaysOfCopyingAreRefused) {
  SessionOptions options;
  options.transfer = Transfer::mapped;
  try {
    (void)GetParam().make<float>()(adam, options);
    FAIL() << "made";
  } catch (const Unavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("--transfer mapped"));
  }
}

TEST_P(DeviceEngineTest, ForwardInTwoHalves) {
  for (const Transfer transfer : {Transfer::pageable, Transfer::pinned}) {
    SessionOptions options;
    options.transfer = transfer;
    const auto engine = GetParam().make<double>()(adam, options);
    engine->set_parameters(start_of<double>(network));
    const Rows<double> rows = random_rows<double>(network, 20, 3);
    std::vector<double> whole(60);
    std::vector<double> halves(60);
    engine->forward(rows.features, whole);
    engine->start_forward(rows.features, halves);
    engine->finish_forward();
    EXPECT_EQ(halves, whole);
  }
}

TEST_P(DeviceEngineTest, TimesAreKeptWhenAskedForAndChangeNothingElse) {
  const auto engine = GetParam().make<double>()(adam, {});
  const Trained plain = train_by_batches(*engine, adam);
  EXPECT_FALSE(engine->take_times());

  Training training = adam;
  training.times = true;
  const auto timed = GetParam().make<double>()(training, {});
  EXPECT_EQ(train_by_batches(*timed, adam).parameters, plain.parameters);
  const std::optional<EngineTimes> times = timed->take_times();
  ASSERT_TRUE(times);
  for (const StepTimes& clock : {times->host, times->device}) {
    for (const double part : {clock.data, clock.h2d, clock.launch, clock.forward, clock.backward,
                              clock.update, clock.sync}) {
      EXPECT_GE(part, 0);
    }
  }
  EXPECT_GT(times->host.h2d, 0);
  EXPECT_GT(times->host.launch, 0);
  EXPECT_GT(times->device.h2d, 0);
  EXPECT_GT(times->device.backward, 0);
  EXPECT_GT(times->host.sync + times->host.backward, 0);

  const std::optional<EngineTimes> none = timed->take_times();
  ASSERT_TRUE(none);
  EXPECT_EQ(none->device.backward, 0);
  EXPECT_EQ(none->host.h2d, 0);
}

// Without engines on a device there is nothing to test.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceEngineTest);
INSTANTIATE_TEST_SUITE_P(All, DeviceEngineTest, testing::ValuesIn(device_engines()), engine_name);

} // namespace
} // namespace diffbench::mlp
