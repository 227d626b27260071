// SPDX-License-Identifier: Apache-2.0
// The kernels of cuda_persistent under every division of their work that they can be launched with,
// which the engine chooses by the device.
#include "../training_case.hpp"

#include "cuda/device_memory.hpp"
#include "cuda/kernels.hpp"
#include "cuda/optimizer_constants.hpp"
#include "cuda/persistent_net.hpp"
#include "diffbench/gpu/launch.hpp"

#include <gmock/gmock.h>
#include <emulation/control.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::mlp::cuda {
namespace {

using testing::IsEmpty;

constexpr std::int64_t shared_bytes = 227 << 10;

emulation::DeviceSpec with_16_multiprocessors() { return {.multiprocessors = 16}; }

struct Outcome {
  Trained trained;
  std::vector<double> outputs;
};

/// Rows that the forward pass is given: not quite a batch.
std::int64_t answers(const Training& training, const Rows<double>& rows) {
  return std::min(training.batch, static_cast<std::int64_t>(rows.labels.size()) - 1);
}

template <typename U>
std::vector<U> values_of(const gpu::Stream& stream, const gpu::DeviceArray<U>& array) {
  std::vector<U> values(static_cast<std::size_t>(array.size()));
  gpu::copy_to_host(stream, values.data(), array.data(), values.size() * sizeof(U));
  stream.synchronize();
  return values;
}

template <typename U>
gpu::DeviceArray<U> on_device(const gpu::Stream& stream, const std::vector<U>& values) {
  gpu::DeviceArray<U> array(static_cast<std::int64_t>(values.size()));
  gpu::copy_to_device(stream, array.data(), values.data(), values.size() * sizeof(U));
  stream.synchronize();
  return array;
}

/// All rows in their order, three batches a launch; then the outputs of the first rows.
Outcome run(const Training& training, const PersistentNet& net, const Rows<double>& rows) {
  const Network& network = training.network;
  const gpu::Device device = gpu::use_device(0);
  const auto& kernels = net_kernels<double>();
  gpu::allow_shared_memory(kernels.persistent_steps, device);
  gpu::allow_shared_memory(kernels.persistent_forward, device);
  gpu::allow_large_clusters(kernels.persistent_steps);
  gpu::allow_large_clusters(kernels.persistent_forward);
  const auto blocks = static_cast<unsigned>(net.blocks());
  const gpu::LaunchShape shape{
      .grid = dim3(blocks),
      .block = dim3(persistent_threads),
      .shared_bytes = static_cast<std::size_t>(net.shared_size) * sizeof(double),
      .cluster = blocks};
  const gpu::Stream stream;
  const auto features = on_device(stream, rows.features);
  const auto labels = on_device(stream, rows.labels);
  const auto parameters = on_device(stream, start_of<double>(network));
  const auto first = zeros<double>(stream, network.parameters());
  const auto second = zeros<double>(stream, network.parameters());
  const auto outputs = zeros<double>(stream, training.batch * network.classes());
  const auto block_moments = zeros<double>(stream, std::int64_t{2} * net.blocks() * net.moments);
  StepState<double> start{};
  start.power1 = start.power2 = 1;
  const auto state = on_device(stream, std::vector{start});
  const auto work = [&](std::int64_t begin, std::int64_t count, const std::int32_t* with_labels) {
    return PersistentWork<double>{
        .rows = {features.data() + begin * network.inputs(), with_labels, nullptr},
        .count = count,
        .outputs = outputs.data(),
        .parameters = parameters.data(),
        .moments = {first.data(), second.data()},
        .block_moments = block_moments.data(),
        .state = state.data()};
  };
  const auto count = static_cast<std::int64_t>(rows.labels.size());
  for (std::int64_t begin = 0; begin < count; begin += 3 * training.batch) {
    gpu::launch(stream, shape, kernels.persistent_steps, net,
                work(begin, std::min(3 * training.batch, count - begin), labels.data() + begin),
                constants_of<double>(training.optimizer));
  }
  gpu::launch(stream, shape, kernels.persistent_forward, net,
              work(0, answers(training, rows), nullptr));
  const std::vector<StepState<double>> end = values_of(stream, state);
  EXPECT_EQ(end.front().losses.steps, (count + training.batch - 1) / training.batch);
  return {.trained = {.parameters = values_of(stream, parameters), .loss = end.front().losses.sum},
          .outputs = values_of(stream, outputs)};
}

/// The same by the engine that is the reference.
Outcome reference(const Training& training, const Rows<double>& rows) {
  const auto engine = require_engine("scalar").make<double>()(training, {});
  engine->set_parameters(start_of<double>(training.network));
  const auto inputs = static_cast<std::size_t>(training.network.inputs());
  const auto classes = static_cast<std::size_t>(training.network.classes());
  const auto batch = static_cast<std::size_t>(training.batch);
  for (std::size_t begin = 0; begin < rows.labels.size(); begin += batch) {
    const std::size_t count = std::min(batch, rows.labels.size() - begin);
    engine->step(std::span(rows.features).subspan(begin * inputs, count * inputs),
                 std::span(rows.labels).subspan(begin, count));
  }
  Outcome outcome;
  outcome.trained.loss = engine->wait().sum;
  outcome.trained.parameters = parameters_of(*engine, training.network);
  outcome.outputs.resize(batch * classes);
  const auto count = static_cast<std::size_t>(answers(training, rows));
  engine->forward(std::span(rows.features).first(count * inputs),
                  std::span(outcome.outputs).first(count * classes));
  return outcome;
}

struct Case {
  const char* layers;
  std::int64_t batch;
  BlockGroups groups;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name =
      std::string("n") + info.param.layers + "_b" + std::to_string(info.param.batch) + "_" +
      std::to_string(info.param.groups.rows) + "x" + std::to_string(info.param.groups.features);
  std::replace(name.begin(), name.end(), ',', '_');
  return name;
}

class PersistentNetTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { emulation::reset({.devices = {with_16_multiprocessors()}}); }
  void TearDown() override {
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
    EXPECT_THAT(emulation::live_resources(), IsEmpty());
    emulation::reset();
  }
};

// Two launches, the last step with fewer rows: weights, moments and the loss go from one to the
// next.// With the gradients in one portion, and in as many as there can be, with two places for
// them and with one.
TEST_P(PersistentNetTest, TrainsAsTheReferenceDoes) {
  const auto [layers, batch, groups] = GetParam();
  std::uint64_t seed = 1;
  for (const Optimizer& optimizer :
       {Optimizer{.rate = 0.05}, Optimizer{.rate = 0.05, .momentum = 0.9, .weight_decay = 0.01},
        Optimizer{.kind = Optimizer::Kind::adam, .rate = 0.01}}) {
    if (groups.rows * groups.features > 4 && optimizer.kind != Optimizer::Kind::adam) {
      continue; // thousands of threads take their time
    }
    const Training training{
        .network = parse_layers(layers), .optimizer = optimizer, .batch = batch};
    const Rows<double> rows = random_rows<double>(training.network, 5 * batch - batch / 3, 1);
    const Outcome expected = reference(training, rows);
    const PersistentNet smallest = persistent_net(training, sizeof(double), groups, 0);
    const std::int64_t small_room =
        smallest.shared_size * std::int64_t{sizeof(double)} +
        std::int64_t{smallest.row_groups} * smallest.portion * tile_chunks * 16;
    for (const std::int64_t room : {shared_bytes, small_room, std::int64_t{0}}) {
      const PersistentNet net = persistent_net(training, sizeof(double), groups, room);
      EXPECT_EQ(net.waits_for_place(), room == 0 && net.own_tiles > 1);
      ASSERT_LE(net.shared_size * std::int64_t{sizeof(double)}, shared_bytes);
      SCOPED_TRACE(std::to_string(net.portions()) + " portions" +
                   (net.waits_for_place() ? ", one place" : ""));
      emulation::set_seed(seed++);
      const Outcome found = run(training, net, rows);
      EXPECT_LE(distance(found.trained.parameters, expected.trained.parameters), 1e-12);
      EXPECT_NEAR(found.trained.loss, expected.trained.loss, 1e-12 * expected.trained.loss);
      EXPECT_LE(distance(found.outputs, expected.outputs), 1e-11);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, PersistentNetTest,
                         testing::Values(Case{"3,40,50,4", 9, {1, 1}}, Case{"3,40,50,4", 9, {2, 1}},
                                         Case{"3,40,50,4", 9, {1, 2}}, Case{"3,40,50,4", 9, {2, 2}},
                                         Case{"3,40,50,4", 9, {4, 1}}, Case{"3,40,50,4", 9, {1, 4}},
                                         Case{"3,40,50,4", 9, {4, 4}},
                                         Case{"3,40,50,4", 9, {16, 1}},
                                         Case{"5,70,20,65,40", 7, {2, 4}},
                                         Case{"64,64,64", 3, {1, 2}}, Case{"4,80,160,2", 5, {2, 2}},
                                         Case{"33,33", 4, {2, 2}}, Case{"2,3", 1, {1, 1}}),
                         case_name);

} // namespace
} // namespace diffbench::mlp::cuda
