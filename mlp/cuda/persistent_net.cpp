#include "persistent_net.hpp"

#include "diffbench/mlp/engine.hpp"

#include <algorithm>
#include <cstddef>

namespace diffbench::mlp::cuda {

PersistentNet persistent_net(const Training& training, int blocks) {
  const Network& network = training.network;
  PersistentNet net{};
  net.layers = static_cast<int>(network.layers());
  net.blocks = blocks;
  net.batch = static_cast<std::int32_t>(training.batch);
  net.adam = training.optimizer.kind == Optimizer::Kind::adam;
  net.momentum = net.adam || training.optimizer.momentum != 0;
  std::int64_t shared = 0;
  const auto place = [&shared](std::int64_t count) {
    const std::int64_t begin = shared;
    shared += count;
    return static_cast<std::int32_t>(begin);
  };
  for (int l = 0; l < net.layers; ++l) {
    const auto inputs = static_cast<std::int32_t>(network.inputs(l));
    const auto outputs = static_cast<std::int32_t>(network.outputs(l));
    net.widths[l] = inputs;
    net.widths[l + 1] = outputs;
    net.weights_at[l] = network.weights_at(l);
    net.biases_at[l] = network.biases_at(l);
    net.rows_at[l] = place(std::int64_t{slice(outputs, blocks)} * inputs);
    net.columns_at[l] = place(l == 0 ? 0 : std::int64_t{slice(inputs, blocks)} * outputs);
    net.slice_biases_at[l] = place(slice(outputs, blocks));
  }
  net.slice_size = static_cast<std::int32_t>(shared);
  shared *= 1 + (net.momentum ? 1 : 0) + (net.adam ? 1 : 0);
  net.delta_at = place(network.classes() * training.batch);
  net.shared_size = static_cast<std::int32_t>(shared);
  for (int l = 0; l <= net.layers; ++l) {
    net.values_at[l] = net.values_size;
    net.values_size += std::int64_t{net.widths[l]} * net.batch;
  }
  return net;
}

int blocks_that_pay(const Training& training, int most_blocks) {
  constexpr double flops_a_second = 1e11; // of one multiprocessor at these shapes
  constexpr double barrier_seconds = 1.2e-6;
  const double flops = training.network.flops_per_step(training.batch);
  const auto barriers = static_cast<double>(2 * training.network.layers() - 1);
  if (flops / flops_a_second < barriers * barrier_seconds) {
    return 1;
  }
  return static_cast<int>(std::clamp(flops / (flops_a_second * barrier_seconds), 2.0,
                                     std::max(2.0, 1.0 * most_blocks)));
}

} // namespace diffbench::mlp::cuda
