// SPDX-License-Identifier: Apache-2.0
// Every call of the CUDA runtime and of cuBLASLt that an engine makes fails once.
#include "../training_case.hpp"

#include <emulation/fault_sweep.hpp>

#include <array>
#include <string>

namespace diffbench::mlp {
namespace {

struct Sweep {
  EngineInfo engine;
  Transfer transfer;
};

std::vector<Sweep> sweeps() {
  std::vector<Sweep> sweeps;
  for (const EngineInfo& engine : all_engines()) {
    if (engine.device == DeviceKind::emulated) {
      sweeps.push_back({engine, Transfer::pageable});
      sweeps.push_back({engine, Transfer::pinned});
    }
  }
  return sweeps;
}

std::string sweep_name(const testing::TestParamInfo<Sweep>& info) {
  return std::string(info.param.engine.name) + "_" + std::string(to_string(info.param.transfer));
}

// emulation::Life of an engine.
std::int64_t live(const Sweep& sweep) {
  Training training{
      .network = Network({3, 9, 2}), .optimizer = {.rate = 0.1, .momentum = 0.9}, .batch = 4};
  training.times = sweep.transfer == Transfer::pinned;
  SessionOptions options;
  options.transfer = sweep.transfer;
  options.async = true;
  const Rows<float> rows = random_rows<float>(training.network, 6, 1);
  const auto engine = sweep.engine.make<float>()(training, options);
  engine->set_parameters(start_of<float>(training.network));
  engine->step(std::span(rows.features).first(12), std::span(rows.labels).first(4));
  engine->resident_data()->set_data(rows.features, rows.labels);
  engine->resident_data()->run(std::array{5, 4, 3, 2, 1, 0});
  (void)engine->wait();
  (void)engine->take_times();
  std::vector<float> outputs(4);
  engine->forward(std::span(rows.features).first(6), outputs);
  (void)parameters_of(*engine, training.network);
  return emulation::counters().calls;
}

class EngineFaults : public testing::TestWithParam<Sweep> {};

TEST_P(EngineFaults, EveryCallFailsCleanly) {
  emulation::expect_every_call_fails_cleanly([] { return live(GetParam()); }, 50);
}

TEST_P(EngineFaults, AKernelsFaultArrives) {
  emulation::expect_kernel_faults_arrive([] { return live(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Sweeps, EngineFaults, testing::ValuesIn(sweeps()), sweep_name);

} // namespace
} // namespace diffbench::mlp
