// SPDX-License-Identifier: Apache-2.0
// The benchmarks mlp/: training steps and forward passes of every engine, network and batch.
#include "mlp/step_check.hpp"
#include "mlp/timed_steps.hpp"
#include "mlp/training_job.hpp"
#include "suite.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

enum class Work { step, forward };

struct Case {
  Work work;
  mlp::Network network;
  std::int64_t batch;
};

/// From nets whose step is a few microseconds to those that are matrix products; and the one of
/// images, for answers to one row.
std::vector<Case> cases() {
  const mlp::Network images({784, 128, 10});
  std::vector<Case> all;
  for (const std::int64_t last : {8, 64, 256, 1024}) {
    all.push_back({.work = Work::step, .network = mlp::doubling_network(last), .batch = 100});
  }
  all.push_back({.work = Work::step, .network = images, .batch = 100});
  for (const std::int64_t batch : {1, 100, 1000}) {
    all.push_back({.work = Work::forward, .network = images, .batch = batch});
  }
  return all;
}

/// Operations of a sample: the same for all engines, some 0.2 s of one that makes 10 Gflop/s, and
/// at most 1000.
std::int64_t operations_of_sample(const Case& chosen) {
  const double flops = chosen.network.flops_per_step(chosen.batch);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(2e9 / flops), 1, 1000);
}

/// Batches of normal features and even labels.
TrainingJob random_job(const Case& chosen) {
  constexpr std::int64_t batches = 16;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  mlp::DataSet data{.name = "random",
                    .features = chosen.network.inputs(),
                    .classes = chosen.network.classes(),
                    .values = {},
                    .labels = {}};
  data.values.resize(static_cast<std::size_t>(batches * chosen.batch * data.features));
  data.labels.resize(static_cast<std::size_t>(batches * chosen.batch));
  std::ranges::generate(data.values, [&] { return normal(generator); });
  std::ranges::generate(data.labels, [&] {
    return static_cast<std::int32_t>(generator() % static_cast<unsigned>(data.classes));
  });
  return make_job({.network = chosen.network, .optimizer = {}, .batch = chosen.batch},
                  std::move(data), 1);
}

std::string widths_of(const mlp::Network& network) {
  return fmt::format("{}", fmt::join(network.widths(), "-"));
}

struct KeptReference {
  std::shared_ptr<const TrainingJob> job;
  StepReference reference{*job};
};

/// Computed once for all engines.
StepReference& reference_of(const Case& chosen, std::shared_ptr<const TrainingJob> job) {
  static std::map<std::string, KeptReference> references;
  const std::string widths = widths_of(chosen.network);
  const auto known = references.find(widths);
  return known != references.end()
             ? known->second.reference
             : references.emplace(widths, KeptReference{std::move(job)}).first->second.reference;
}

void verify_steps(Timed<float>& steps, const Case& chosen,
                  const std::shared_ptr<const TrainingJob>& job) {
  StepReference& reference = reference_of(chosen, job);
  (void)steps.sample(reference.steps());
  std::vector<float> parameters(job->start.size());
  steps.fetch(parameters);
  if (const StepCheck check = reference.check(parameters); !check.ok()) {
    throw WrongResult(to_text(check));
  }
}

void verify_forward(Timed<float>& answerer, const TrainingJob& job) {
  const mlp::Network& network = job.training.network;
  std::vector<float> outputs(static_cast<std::size_t>(job.training.batch * network.classes()));
  (void)answerer.sample(1);
  answerer.fetch(outputs);
  const double error = output_error(network, job.start, job.features(0), outputs);
  if (!(error <= most_output_error)) {
    throw WrongResult(fmt::format("outputs are wrong by {:.2g} of the largest", error));
  }
}

Repetition prepare_network(const mlp::EngineInfo& info, const Case& chosen) {
  const auto job = std::make_shared<const TrainingJob>(random_job(chosen));
  const std::shared_ptr<Timed<float>> timed =
      chosen.work == Work::step ? engine_steps(info, {}, *job) : engine_answers(info, {}, *job);
  if (chosen.work == Work::step) {
    verify_steps(*timed, chosen, job);
  } else {
    verify_forward(*timed, *job);
  }
  if (info.device == DeviceKind::emulated) {
    return {};
  }
  return [job, timed, batch = chosen.batch](benchmark::State& state) {
    take_samples(state, *timed);
    count_rate(state, "rows_per_second", static_cast<double>(batch));
    set_label(state, timed->provenance());
  };
}

void add_case(const mlp::EngineInfo& info, const Case& chosen) {
  add_benchmark(
      fmt::format("mlp/{}/{}/{}/{}", info.name, chosen.work == Work::step ? "step" : "forward",
                  widths_of(chosen.network), chosen.batch),
      operations_of_sample(chosen), [=] { return prepare_network(info, chosen); }, Clock::samples);
}

/// The loops of `scalar` and the emulation would need minutes for the larger nets, and show nothing
/// that the smaller ones do not.
bool too_large(const mlp::EngineInfo& info, const Case& chosen) {
  const double flops = chosen.network.flops_per_step(chosen.batch);
  return (info.device == DeviceKind::emulated && flops > 1e5) || (info.teaching && flops > 1e7);
}

} // namespace

void add_networks(std::span<const mlp::EngineInfo> engines) {
  for (const mlp::EngineInfo& engine : engines) {
    if (const Probe probe = engine.probe(0); !probe.available) {
      add_skipped(fmt::format("mlp/{}", engine.name), probe.reason);
    }
  }
  for (const NotCompiled& engine : mlp::missing_engines()) {
    add_skipped(fmt::format("mlp/{}", engine.name),
                fmt::format("not compiled: {}", engine.how_to_get));
  }
  for (const Case& chosen : cases()) {
    for (const mlp::EngineInfo& engine : engines) {
      if (engine.probe(0).available && !too_large(engine, chosen)) {
        add_case(engine, chosen);
      }
    }
  }
}

} // namespace diffbench::bench
