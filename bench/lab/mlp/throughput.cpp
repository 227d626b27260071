#include "mlp/throughput.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "mlp/forward_check.hpp"
#include "mlp/image_rows.hpp"
#include "mlp/options.hpp"
#include "option_values.hpp"
#include "planning.hpp"
#include "rounds.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// The largest training step that is compared with float64, which also needs memory.
constexpr double most_verified_flops = 4e9;
/// Whose outputs are computed again.
constexpr std::int64_t rows_at_an_end = 16;
/// Batches at which an emulation is verified.
constexpr std::int64_t most_emulated_batch = 16;
constexpr std::int64_t most_batches = 10'000;

struct ThroughputOptions {
  std::vector<std::string> engines;
  std::string layers, threads, isa, device, first_batch, most_batch, budget, seed;
  bool training = false;
  LabOutput output;
};

ThroughputSetting read(const ThroughputOptions& typed) {
  ThroughputSetting setting{.network = mlp::Network({image_pixels, 128, image_classes}),
                            .engines = {}};
  assign("--layers", typed.layers, setting.network, mlp::parse_layers);
  const std::optional<int> device = read_device(typed.device);
  setting.session.device = device.value_or(0);
  setting.engines = choose_engines(typed.engines, device);
  if (!typed.threads.empty()) {
    setting.session.threads =
        static_cast<int>(parse_integer("--threads", typed.threads, 1, max_threads));
  }
  read_isa(typed.isa, setting.session);
  setting.training = typed.training;
  assign_integer("--first-batch", typed.first_batch, 1, setting.most_batch, setting.first_batch);
  assign_integer("--most-batch", typed.most_batch, setting.first_batch, setting.most_batch,
                 setting.most_batch);
  if (!typed.seed.empty()) {
    setting.seed =
        static_cast<std::uint64_t>(parse_integer("--seed", typed.seed, 0, 1'000'000'000));
  }
  assign_real("--budget", typed.budget, setting.budget_seconds);
  if (!(setting.budget_seconds > 0 && setting.budget_seconds <= 86400)) {
    throw InvalidInput(fmt::format("--budget {}: give seconds above 0, up to 86400", typed.budget));
  }
  return setting;
}

/// One engine made for one batch size.
class BatchRunner {
 public:
  BatchRunner(const ThroughputSetting& setting, const mlp::EngineInfo& info, std::int64_t batch)
      : training_(setting.training),
        job_(make_job({.network = setting.network, .optimizer = {}, .batch = batch},
                      made_up_images(batch, setting.network.inputs(), setting.network.classes(),
                                     setting.seed),
                      setting.seed)),
        outputs_(static_cast<std::size_t>(batch * setting.network.classes())),
        engine_(info.make_float32(job_.training, setting.session)) {
    engine_->set_parameters(job_.start);
  }

  /// Empty where that would take too long.
  std::optional<StepCheck> verify() {
    if (!training_) {
      engine_->forward(job_.data.values, outputs_);
      return check_outputs();
    }
    if (job_.training.network.flops_per_step(job_.training.batch) > most_verified_flops) {
      return std::nullopt;
    }
    const StepReference reference(job_);
    sample(reference.steps());
    std::vector<float> parameters(job_.start.size());
    engine_->get_parameters(parameters);
    return reference.check(parameters);
  }

  Sample sample(std::int64_t repetitions) {
    engine_->set_parameters(job_.start);
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < repetitions; ++i) {
      if (training_) {
        engine_->step(job_.data.values, job_.data.labels);
      } else {
        engine_->forward(job_.data.values, outputs_);
      }
    }
    if (engine_->wait().broken != 0) {
      throw Error("the loss is not finite");
    }
    return {.iterations = repetitions,
            .seconds = seconds_since<Clock>(start),
            .cpu_seconds = std::nullopt};
  }
  [[nodiscard]] Provenance provenance() const { return engine_->provenance(); }

 private:
  /// Of the first rows and the last.
  [[nodiscard]] StepCheck check_outputs() const {
    const mlp::Network& network = job_.training.network;
    const std::int64_t rows = std::min(job_.training.batch, rows_at_an_end);
    const auto part = [&](const std::vector<float>& all, std::int64_t first, std::int64_t width) {
      return std::span(all).subspan(static_cast<std::size_t>(first * width),
                                    static_cast<std::size_t>(rows * width));
    };
    StepCheck check;
    for (const std::int64_t first : {std::int64_t{0}, job_.training.batch - rows}) {
      const double error =
          output_error(network, job_.start, part(job_.data.values, first, network.inputs()),
                       part(outputs_, first, network.classes()));
      check.nonfinite += std::isfinite(error) ? 0 : 1;
      check.share_of_bound = std::max(check.share_of_bound, error / most_output_error);
    }
    return check;
  }

  bool training_;
  TrainingJob job_;
  std::vector<float> outputs_;
  std::unique_ptr<mlp::Engine<float>> engine_;
};

/// The search of one engine.
class EngineSearch {
 public:
  EngineSearch(const ThroughputSetting& setting, const mlp::EngineInfo& info)
      : setting_(setting), info_(info) {
    result_.row.name = result_.row.racer = info.name;
    result_.row.device = to_string(info.device);
  }

  EngineThroughput run(Progress& progress) {
    const auto start = Clock::now();
    const std::int64_t most = result_.row.emulated()
                                  ? std::min(setting_.most_batch, most_emulated_batch)
                                  : setting_.most_batch;
    result_.search = search_batches(
        setting_.first_batch, most,
        [&](std::int64_t batch) {
          progress.stage(fmt::format("{}, batches of {}", info_.name, batch));
          return trial(batch);
        },
        [&](bool refining) {
          // What is round the best costs little.
          return !interrupted() &&
                 (refining || seconds_since<Clock>(start) < setting_.budget_seconds);
        });
    finish();
    return std::move(result_);
  }

 private:
  void finish() {
    RaceRow& row = result_.row;
    if (const BatchPoint* const best = result_.search.best(); best == nullptr) {
      row.status = interrupted() ? Status::skipped : Status::failed;
      row.reason = result_.search.ended_by;
    } else if (row.emulated()) {
      result_.search.curve.clear(); // proved, and without a rate
    } else {
      row.samples = result_.samples.at(best->batch);
    }
  }

  /// Throws nothing: what goes wrong at a batch size ends the search there.
  BatchTrial trial(std::int64_t batch) {
    const double needed = batch_bytes(setting_.network, batch);
    const auto free = static_cast<double>(available_memory());
    if (needed > free) {
      return {{},
              fmt::format("memory: batches of {} need up to {:.3g} GB, and {:.3g} GB are free",
                          batch, needed / 1e9, free / 1e9)};
    }
    try {
      return {measure(batch), {}};
    } catch (const std::bad_alloc&) {
      return {{}, fmt::format("memory: batches of {} could not be allocated", batch)};
    } catch (const std::exception& error) {
      return {{}, fmt::format("batches of {}: {}", batch, error.what())};
    }
  }

  double measure(std::int64_t batch) {
    BatchRunner runner(setting_, info_, batch);
    result_.row.provenance = runner.provenance();
    if (const auto check = runner.verify()) {
      if (!result_.row.check || result_.row.check->ok()) { // what was wrong once is wrong
        result_.row.check = check;
      }
      result_.verified_to = std::max(result_.verified_to, batch);
      if (!check->ok()) {
        throw Error("its results are not those of the reference");
      }
    }
    if (result_.row.emulated()) {
      return 1;
    }
    runner.sample(1);
    const Sample warm = runner.sample(1);
    const SamplePlan plan = plan_samples({.reset_seconds = 0, .step_seconds = warm.seconds},
                                         setting_.batch_seconds, most_batches);
    std::vector<Sample>& samples = result_.samples[batch];
    for (int i = 0; i < plan.rounds && (samples.empty() || !interrupted()); ++i) {
      samples.push_back(runner.sample(plan.iterations));
    }
    return static_cast<double>(batch) / iteration_quartiles(samples).median;
  }

  const ThroughputSetting& setting_;
  const mlp::EngineInfo& info_;
  EngineThroughput result_;
};

} // namespace

double batch_bytes(const mlp::Network& network, std::int64_t batch) {
  double numbers = 0; // of a row: itself, and each layer's values by row, by feature, and gradient
  for (const std::int64_t width : network.widths()) {
    constexpr double padding = 64;
    numbers += 3 * (static_cast<double>(width) + padding);
  }
  numbers += static_cast<double>(network.inputs() + network.classes());
  return numbers * static_cast<double>(batch) * sizeof(float);
}

ThroughputStudy measure_throughput(const ThroughputSetting& setting, Progress& progress) {
  ThroughputStudy study{.network = setting.network, .training = setting.training, .engines = {}};
  for (const mlp::EngineInfo& info : setting.engines) {
    if (!interrupted()) {
      study.engines.push_back(EngineSearch(setting, info).run(progress));
    }
  }
  study.interrupted = interrupted();
  return study;
}

Action declare_mlp_throughput(CLI::App& app) {
  const auto options = std::make_shared<ThroughputOptions>();
  begin_group(app, "Network, on made-up rows");
  declare_value(app, "--layers", options->layers, "N,N,...", "widths (default 784,128,10)");
  declare_flag(app, "--train", options->training, "training steps instead of answers");
  declare_value(app, "--seed", options->seed, "N", "of parameters and rows (default 1)");
  begin_group(app, "What runs");
  declare_values(app, "--engine", options->engines, "NAME",
                 "engine to run, may be repeated (default: all but scalar)");
  declare_value(app, "--threads", options->threads, "N", "for threaded engines");
  declare_value(app, "--isa", options->isa, "NAME", "baseline, avx2 or avx512 (default: the best)");
  declare_value(app, "--device", options->device, "N", "which GPU (default 0)");
  declare_value(app, "--first-batch", options->first_batch, "N",
                "where the search begins (default 1)");
  declare_value(app, "--most-batch", options->most_batch, "N",
                "where the search ends (default: at the memory's end)");
  declare_value(app, "--budget", options->budget, "SECONDS", "time of an engine (default 20)");
  options->output.declare(app);
  return [options](const Invocation& invocation) {
    const ThroughputSetting setting = read(*options);
    return run_experiment("mlp_throughput", options->output, invocation, [&](Progress& progress) {
      return throughput_report(measure_throughput(setting, progress));
    });
  };
}

} // namespace diffbench::bench
