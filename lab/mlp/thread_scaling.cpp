// SPDX-License-Identifier: Apache-2.0
#include "thread_scaling.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "planning.hpp"
#include "scaling/scaling.hpp"
#include "scaling/thread_report.hpp"
#include "small_nets.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

/// So many batches are more than caches hold; more would only take longer to read.
constexpr std::int64_t batches = 100;
constexpr std::int64_t most_rows = 60'000; ///< as many as MNIST has
constexpr std::int64_t epoch_steps = 600;  ///< an epoch of MNIST in batches of 100

struct ThreadOptions {
  mlp::Network network{{image_pixels, 512, 512, image_classes}};
  RaceSetting race;
  LabOutput output;
};

/// Without --engine: the tuned one, and those on GPUs.
void keep_what_scales(RaceOptions& race) {
  std::erase_if(race.engines, [](const mlp::EngineInfo& engine) {
    return engine.device == DeviceKind::cpu && engine.name != "cpu";
  });
}

StepScaling measure(const ThreadOptions& options, Progress& progress) {
  RaceSetting setting = options.race;
  if (setting.batch > most_rows) {
    throw InvalidInput(fmt::format("--batch {}: there are {} rows", setting.batch, most_rows));
  }
  mlp::DataSet rows =
      made_up_images(std::min(batches * setting.batch, most_rows), options.network.inputs(),
                     options.network.classes(), setting.seed);
  StepScaling study{.network = options.network,
                    .batch = setting.batch,
                    .race = {},
                    .usable_cpus = usable_cpus(),
                    .cpu_quota = cpu_quota()};
  const TrainingJob job =
      make_job({.network = options.network, .optimizer = setting.optimizer, .batch = setting.batch},
               std::move(rows), setting.seed);
  setting.race.most_steps = epoch_steps;
  PeerPool peers;
  study.race = run_race(job, setting.race, setting.budget_seconds, peers, progress);
  study.interrupted = interrupted();
  return study;
}

GpuAnswer gpu_answer(const StepScaling& study) {
  const auto best_on = [&](DeviceKind device) {
    return fastest(std::span(study.race.rows),
                   [&](const RaceRow& row) { return row.device == device; });
  };
  const RaceRow* const gpu = best_on(DeviceKind::cuda);
  const RaceRow* const cpu = best_on(DeviceKind::cpu);
  if (gpu == nullptr || cpu == nullptr) {
    return no_gpu(gpu == nullptr ? "no row ran on a GPU" : "nor has one of the CPU");
  }
  const double times = cpu->step_seconds() / gpu->step_seconds();
  return gpu_verdict(gpu->name, cpu->name, format_pace(times) + " a step",
                     ratio_in_run(cpu->samples, gpu->samples), {{"times_as_fast", times}});
}

} // namespace

LabReport step_scaling_report(const StepScaling& study) {
  const double flops = study.network.flops_per_step(study.batch);
  ThreadStudy threads{.title = fmt::format("network {}, batches of {} made-up rows\n\n",
                                           mlp::to_string(study.network), study.batch),
                      .rate = "rows/s",
                      .rate_unit = 1,
                      .usable_cpus = study.usable_cpus,
                      .cpu_quota = study.cpu_quota,
                      .least_effect = study.race.least_effect,
                      .gpu = gpu_answer(study),
                      .data = {{"layers", study.network.widths()},
                               {"parameters", study.network.parameters()},
                               {"batch", study.batch},
                               {"reference", study.race.reference}},
                      .troubles = format_small_nets(study.race.rows)};
  for (const RaceRow& row : study.race.rows) {
    ThreadRow& own = threads.rows.emplace_back(
        ThreadRow{study_row(row, series_of("scaling", study.network, row.name, row))});
    own.judged = !row.is_peer();
    own.work = static_cast<double>(study.batch);
    own.gflop = flops / 1e9;
    own.proof = row.ranked() ? "yes" : "no";
    own.peak_bytes = row.peak_bytes;
  }
  LabReport report = thread_report(threads);
  for (const ThreadRow& row : threads.rows) {
    if (!row.trouble.empty()) {
      report.notes.push_back(row.trouble);
    }
  }
  report.interrupted = study.interrupted;
  report.outcome = outcome_of(endings_of(study.race.rows));
  return report;
}

Action declare_mlp_scaling(OptionList& options) {
  const auto state = std::make_shared<ThreadOptions>();
  options.group("Network, on made-up rows");
  options.parsed("--layers N,N,...", state->network, "widths (default 784,512,512,10)",
                 mlp::parse_layers);
  declare_race(options, state->race, "cpu, and those on GPUs",
               "1, 2, 4, ... up to the usable CPUs");
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    RaceSetting& setting = state->race;
    choose_engines(setting);
    if (!setting.choice.named()) {
      keep_what_scales(setting.race);
    }
    setting.race.threads = thread_counts(setting.race.threads, usable_cpus());
    state->output.expect(
        expected_seconds(setting, {&state->network, 1}),
        fmt::format("{}, {}", counted(std::ssize(setting.race.threads), "thread count"),
                    limit_text(setting.budget_seconds, setting.race.budget_binds)),
        setting.race.budget_binds);
    return run_experiment("mlp_scaling", state->output, invocation, [&](Progress& progress) {
      return step_scaling_report(measure(*state, progress));
    });
  };
}

} // namespace diffbench::bench
