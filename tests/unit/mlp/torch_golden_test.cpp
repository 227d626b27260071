// SPDX-License-Identifier: Apache-2.0
// Runs from PyTorch's weights follow PyTorch's, with rounding errors no worse than its own.
// tests/golden/mlp/torch_golden.py made the file.
#include "training_case.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

namespace diffbench::mlp {
namespace {

using nlohmann::json;

const json& golden() {
  // The tests may run where the sources are not (scripts/gpu-kit).
  const char* const elsewhere = std::getenv("DIFFBENCH_TORCH_GOLDEN");
  static const json parsed =
      json::parse(std::ifstream(elsewhere != nullptr ? elsewhere : DIFFBENCH_TORCH_GOLDEN));
  return parsed;
}

Training training_of(const json& run) {
  const json& given = run["optimizer"];
  Optimizer optimizer;
  optimizer.kind = given["kind"] == "adam" ? Optimizer::Kind::adam : Optimizer::Kind::sgd;
  optimizer.rate = given["rate"];
  optimizer.momentum = given.value("momentum", 0.0);
  optimizer.weight_decay = given.value("weight_decay", 0.0);
  return {.network = Network(golden()["widths"].get<std::vector<std::int64_t>>()),
          .optimizer = optimizer,
          .batch = golden()["batch"]};
}

template <typename T>
std::vector<double> run_engine(const EngineInfo& info, const Training& training, int steps) {
  const auto points = golden()["points"].get<std::vector<T>>();
  const auto labels = golden()["labels"].get<std::vector<std::int32_t>>();
  const auto engine = info.make<T>()(training, {});
  engine->set_parameters(golden()["start"].get<std::vector<T>>());
  const auto batch = static_cast<std::size_t>(training.batch);
  for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
    const std::size_t begin = step * batch % labels.size();
    engine->step(std::span(points).subspan(2 * begin, 2 * batch),
                 std::span(labels).subspan(begin, batch));
  }
  std::vector<double> result;
  for (const T parameter : parameters_of(*engine, training.network)) {
    result.push_back(static_cast<double>(parameter));
  }
  return result;
}

class TorchGolden : public testing::TestWithParam<EngineInfo> {};

TEST_P(TorchGolden, TrainingFollowsPyTorchs) {
  if (!GetParam().probe(0).available) {
    GTEST_SKIP() << GetParam().probe(0).reason;
  }
  for (const auto& [name, run] : golden()["runs"].items()) {
    const Training training = training_of(run);
    for (std::size_t i = 0; i < run["float64"]["after"].size(); ++i) {
      const json& exact = run["float64"]["after"][i];
      const auto expected = exact["parameters"].get<std::vector<double>>();
      const auto torchs = run["float32"]["after"][i]["parameters"].get<std::vector<double>>();
      const int steps = exact["steps"];
      EXPECT_LE(distance(run_engine<double>(GetParam(), training, steps), expected), 1e-12)
          << name << " after " << steps;
      const double torch_error = distance(torchs, expected);
      EXPECT_LE(distance(run_engine<float>(GetParam(), training, steps), expected), 3 * torch_error)
          << name << " after " << steps;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TorchGolden, testing::ValuesIn(all_engines()), engine_name);

} // namespace
} // namespace diffbench::mlp
