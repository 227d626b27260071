// SPDX-License-Identifier: Apache-2.0
#include "throughput.hpp"

#include "competition.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "planning.hpp"
#include "small_nets.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace diffbench::bench {

namespace {

/// The largest training step that is compared with float64, which also needs memory.
constexpr double most_verified_flops = 4e9;
/// Whose outputs are computed again.
constexpr std::int64_t rows_at_an_end = 16;
/// Batches at which an emulation is verified.
constexpr std::int64_t most_emulated_batch = 16;
constexpr std::int64_t most_batches = 10'000;

/// One engine made for one batch size.
class BatchRunner {
 public:
  BatchRunner(const ThroughputSetting& setting, const mlp::EngineInfo& info, std::int64_t batch)
      : training_(setting.training),
        job_(make_job({.network = setting.network, .optimizer = {}, .batch = batch},
                      made_up_images(batch, setting.network.inputs(), setting.network.classes(),
                                     setting.seed),
                      setting.seed)),
        timed_(training_ ? engine_steps(info, setting.session, job_)
                         : engine_answers(info, setting.session, job_)) {}

  /// Empty where that would take too long.
  std::optional<StepCheck> verify() {
    if (!training_) {
      timed_->sample(1);
      return check_ends();
    }
    if (job_.training.network.flops_per_step(job_.training.batch) > most_verified_flops) {
      return std::nullopt;
    }
    StepReference reference(job_);
    timed_->sample(reference.steps());
    std::vector<float> parameters(job_.start.size());
    timed_->fetch(parameters);
    return reference.check(parameters);
  }

  Sample sample(std::int64_t batches) { return timed_->sample(batches); }
  [[nodiscard]] Provenance provenance() const { return timed_->provenance(); }

 private:
  /// Of the first rows and the last.
  [[nodiscard]] StepCheck check_ends() {
    const mlp::Network& network = job_.training.network;
    std::vector<float> outputs(static_cast<std::size_t>(job_.training.batch * network.classes()));
    timed_->fetch(outputs);
    const std::int64_t rows = std::min(job_.training.batch, rows_at_an_end);
    const auto part = [&](const std::vector<float>& all, std::int64_t first, std::int64_t width) {
      return std::span(all).subspan(static_cast<std::size_t>(first * width),
                                    static_cast<std::size_t>(rows * width));
    };
    double most = 0;
    for (const std::int64_t first : {std::int64_t{0}, job_.training.batch - rows}) {
      const double error =
          output_error(network, job_.start, part(job_.data.values, first, network.inputs()),
                       part(outputs, first, network.classes()));
      most = larger_error(most, error);
    }
    return check_outputs(most);
  }

  bool training_;
  TrainingJob job_;
  std::unique_ptr<Timed<float>> timed_;
};

/// The search of one engine.
class EngineSearch {
 public:
  /// What it finds is in `row` and `result`.
  EngineSearch(const ThroughputSetting& setting, const mlp::EngineInfo& info, RaceRow& row,
               EngineThroughput& result, const LoadWatch& load)
      : setting_(setting), info_(info), row_(row), result_(result), load_(load) {}

  /// Throws Error where no batch size could be measured.
  void run(Progress& progress) {
    const Stopwatch watch;
    row_.small_nets = SmallNets().check(info_, setting_.session);
    if (const StepCheck& worst = row_.small_nets->worst; !worst.ok()) {
      row_.check = worst;
      throw Error(to_text(worst));
    }
    const std::int64_t most =
        row_.emulated() ? std::min(setting_.most_batch, most_emulated_batch) : setting_.most_batch;
    double latest = 0; // seconds of a trial
    result_.search = search_batches(
        setting_.first_batch, most,
        [&](std::int64_t batch) {
          progress.stage(fmt::format("{}, batches of {}", info_.name, batch));
          const Stopwatch of_trial;
          BatchTrial found = trial(batch);
          latest = of_trial.seconds();
          return found;
        },
        [&](SearchPhase phase) {
          // What is round the best costs little. A budget that binds has a third for it.
          const bool doubling = phase == SearchPhase::doubling;
          const double next = watch.seconds() + (doubling ? 2 : 1) * latest;
          const double limit = setting_.budget_seconds * (doubling ? 2. / 3 : 1);
          const bool fits = setting_.budget_binds
                                ? next < limit || result_.samples.empty()
                                : !doubling || watch.seconds() < setting_.budget_seconds;
          return !interrupted() && fits;
        });
    if (interrupted()) {
      result_.search.ended_by = "Ctrl-C";
    }
    if (const BatchPoint* const best = result_.search.best(); best == nullptr) {
      throw Error(result_.search.ended_by);
    } else if (row_.emulated()) {
      result_.search.curve.clear(); // proved, and without a rate
    } else {
      row_.samples = result_.samples.at(best->batch);
    }
  }

 private:
  /// What goes wrong at a batch size ends the search there. Throws Unavailable of an engine that
  /// took no size at all.
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
    } catch (const Unavailable& refusal) {
      if (result_.samples.empty()) {
        throw;
      }
      return {{}, fmt::format("batches of {}: {}", batch, refusal.what())};
    } catch (const std::bad_alloc&) {
      return {{}, fmt::format("memory: batches of {} could not be allocated", batch)};
    } catch (const std::exception& error) {
      return {{}, fmt::format("batches of {}: {}", batch, error.what())};
    }
  }

  double measure(std::int64_t batch) {
    BatchRunner runner(setting_, info_, batch);
    row_.provenance = runner.provenance();
    if (const auto check = runner.verify()) {
      if (!row_.check || row_.check->ok()) { // what was wrong once is wrong
        row_.check = check;
      }
      result_.verified_to = std::max(result_.verified_to, batch);
      if (!check->ok()) {
        throw Error("its results are not those of the reference");
      }
    }
    if (row_.emulated()) {
      return 1;
    }
    runner.sample(1);
    const Sample warm = runner.sample(1);
    SamplePlan plan = plan_samples({.reset_seconds = 0, .step_seconds = warm.seconds},
                                   setting_.batch_seconds, most_batches);
    std::vector<Sample>& samples = result_.samples[batch];
    for (int i = 0; i < plan.rounds && (samples.empty() || !interrupted()); ++i) {
      samples.push_back(
          least_disturbed_sample<SteadyClock>(runner, plan, &load_, setting_.batch_seconds));
    }
    return static_cast<double>(batch) / iteration_quartiles(samples).median;
  }

  const ThroughputSetting& setting_;
  const mlp::EngineInfo& info_;
  RaceRow& row_;
  EngineThroughput& result_;
  const LoadWatch& load_;
};

/// An engine in the competition; it is timed in its search, before the next one has its turn.
struct BatchContender : Contender<RaceRow, Timed<float>> {
  const mlp::EngineInfo* info = nullptr;
  EngineThroughput result;
  Absence absence = Absence::skips_row;
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
  const LoadWatch load;
  Competition<BatchContender> competition(progress);
  for (const mlp::EngineInfo& info : setting.engines) {
    BatchContender contender;
    contender.info = &info;
    contender.absence = setting.named ? Absence::ends_all : Absence::skips_row;
    contender.row.name = contender.row.engine = info.name;
    contender.row.device = info.device;
    competition.enter(std::move(contender));
  }
  try {
    competition.verify([&](BatchContender& contender) {
      EngineSearch(setting, *contender.info, contender.row, contender.result, load).run(progress);
    });
  } catch (const Interrupted&) {
  }
  ThroughputStudy study{.network = setting.network,
                        .training = setting.training,
                        .engines = {},
                        .interrupted = interrupted()};
  std::vector<RaceRow> rows = competition.take_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EngineThroughput& engine =
        study.engines.emplace_back(std::move(competition.contenders()[i].result));
    engine.row = std::move(rows[i]);
    for (auto& [batch, samples] : engine.samples) {
      allow_for_others(samples, load.others_disturb());
    }
  }
  return study;
}

Action declare_mlp_throughput(OptionList& options) {
  struct State {
    ThroughputSetting setting{.network = mlp::Network({image_pixels, 128, image_classes}),
                              .engines = {}};
    EngineChoice choice;
    LabOutput output;
  };
  const auto state = std::make_shared<State>();
  ThroughputSetting& setting = state->setting;
  const Limits search_limits{1, setting.most_batch};
  options.group("Network, on made-up rows");
  options.parsed("--layers N,N,...", setting.network, "widths (default 784,128,10)",
                 mlp::parse_layers);
  options.flag("--train", setting.training, "training steps instead of answers");
  declare_seed(options, setting.seed, "for parameters and rows");
  options.group("What runs");
  declare_engines(options, state->choice, setting.session);
  declare_threads(options, setting.session.threads, "for threaded engines", "as many as pay");
  options.integer("--first-batch N", setting.first_batch, search_limits, "where the search begins");
  options.value(
      "--most-batch N",
      described("where the search ends", fmt::format("--first-batch to {}", search_limits.high),
                "where memory ends"),
      [&setting, search_limits](std::string_view option, const std::string& text) {
        setting.most_batch = parse_integer(option, text, {setting.first_batch, search_limits.high});
      });
  declare_budget(options, setting.budget_seconds, setting.budget_binds, " for each engine");
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    state->setting.engines = choose_engines(state->choice, state->setting.session.device);
    state->setting.named = state->choice.named();
    const double engines = static_cast<double>(state->setting.engines.size());
    const bool binds = state->setting.budget_binds;
    const double budget = state->setting.budget_seconds;
    state->output.expect(
        binds ? budget : 1.2 * budget * engines,
        fmt::format("{}, {}", counted(std::ssize(state->setting.engines), "engine"),
                    limit_text(budget, binds)),
        binds);
    if (state->setting.budget_binds) {
      state->setting.budget_seconds /= static_cast<double>(state->setting.engines.size());
    }
    return run_experiment("mlp_throughput", state->output, invocation, [&](Progress& progress) {
      return throughput_report(measure_throughput(state->setting, progress));
    });
  };
}

} // namespace diffbench::bench
