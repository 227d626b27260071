// SPDX-License-Identifier: Apache-2.0
// What the tests of the engines train on: made-up rows and a network, the same for all.
#pragma once

#include "diffbench/mlp/engine.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace diffbench::mlp {

inline std::string engine_name(const testing::TestParamInfo<EngineInfo>& engine) {
  return std::string(engine.param.name);
}

template <typename T>
struct Rows {
  std::vector<T> features;
  std::vector<std::int32_t> labels;
};

/// Normal features and even labels. std::mt19937's numbers are the same everywhere; what the
/// library makes of them need not be, and does not matter.
template <typename T>
Rows<T> random_rows(const Network& network, std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Rows<T> rows;
  for (std::int64_t i = 0; i < count * network.inputs(); ++i) {
    rows.features.push_back(static_cast<T>(static_cast<float>(normal(generator))));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    rows.labels.push_back(
        static_cast<std::int32_t>(generator() % static_cast<unsigned>(network.classes())));
  }
  return rows;
}

template <typename T>
std::vector<T> start_of(const Network& network) {
  std::vector<float> parameters(static_cast<std::size_t>(network.parameters()));
  initialize<float>(network, 1, parameters);
  return {parameters.begin(), parameters.end()};
}

template <typename T>
std::vector<T> parameters_of(Engine<T>& engine, const Network& network) {
  std::vector<T> parameters(static_cast<std::size_t>(network.parameters()));
  engine.get_parameters(parameters);
  return parameters;
}

struct Trained {
  std::vector<double> parameters;
  double loss = 0;
};

/// After `steps` steps on batches of `batch` rows; the last of every three steps has a smaller one.
template <typename T>
Trained train(const EngineInfo& info, const Training& training, int steps,
              const SessionOptions& options = {}) {
  const auto engine = info.make<T>()(training, options);
  engine->set_parameters(start_of<T>(training.network));
  for (int step = 1; step <= steps; ++step) {
    const std::int64_t rows = step % 3 == 0 ? (training.batch + 1) / 2 : training.batch;
    const Rows<T> batch = random_rows<T>(training.network, rows, static_cast<unsigned>(step));
    engine->step(batch.features, batch.labels);
  }
  Trained trained{.parameters = {}, .loss = engine->wait().sum};
  for (const T parameter : parameters_of(*engine, training.network)) {
    trained.parameters.push_back(static_cast<double>(parameter));
  }
  return trained;
}

/// The largest difference; NaN when there is one in either.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double difference = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

} // namespace diffbench::mlp
