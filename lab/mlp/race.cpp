// SPDX-License-Identifier: Apache-2.0
#include "race.hpp"

#include "columns.hpp"
#include "competition.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/mlp/training.hpp"
#include "diffbench/stopwatch.hpp"
#include "least_effect.hpp"
#include "planning.hpp"
#include "process_memory.hpp"
#include "report_json.hpp"
#include "small_nets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace diffbench::bench {

namespace {

/// An emulated GPU makes some 10 million operations a second.
constexpr double most_emulated_flops = 2e7;

struct StepContender : Contender<RaceRow, TimedSteps> {
  SmallNets::MakeSteps make;
  std::function<ProvedNets()> check_small_nets; ///< null of the roof
  Absence absence = Absence::skips_row;
};

class Race {
 public:
  Race(const TrainingJob& job, const RaceOptions& options, PeerPool& peers, Progress& progress)
      : job_(job),
        options_(options),
        peers_(peers),
        progress_(progress),
        reference_(job),
        small_nets_(job.training.optimizer),
        competition_(progress) {}

  RaceResult run(double budget_seconds) {
    const Stopwatch<> watch;
    const TimeTable table(budget_seconds, options_.budget_binds);
    enter_all();
    Stopwatch<> rounds_watch;
    double timed_seconds = 0;
    try {
      competition_.verify([this](StepContender& contender) { verify(contender); });
      const TimeTable::Rounds rounds = table.rounds(watch.seconds(), false);
      rounds_watch = {};
      competition_.time(rounds.planned, rounds.limit,
                        [this](const StepContender& contender, double share) {
                          return plan_samples(contender.cost, share, options_.most_steps);
                        });
      timed_seconds = rounds_watch.seconds();
    } catch (const Interrupted&) {
    }
    return {.rows = competition_.take_rows(),
            .timed_seconds = timed_seconds,
            .reference = reference_.engine(),
            .least_effect = least_effect_here()};
  }

 private:
  void enter_all() {
    for (const mlp::EngineInfo& engine : options_.engines) {
      for (const int threads : engine_threads(engine)) {
        enter_engine(engine, threads);
      }
    }
    for (const std::string& peer : options_.peers) {
      for (const int threads : threads_of_peer(peer)) {
        const SmallNets::MakeSteps make = [this, peer, threads](const TrainingJob& job) {
          return peers_.steps(peer, threads, options_.session.device, job);
        };
        enter("peer:" + peer, threads, peer_device(peer, PeerTask::training), make,
              [this, make] { return small_nets_.check(make); });
      }
    }
  }

  void enter_engine(const mlp::EngineInfo& engine, int threads) {
    SessionOptions session = options_.session;
    session.threads = threads != 0 ? threads : session.threads;
    enter(
        std::string(engine.name), threads, engine.device,
        [engine, session](const TrainingJob& job) { return engine_steps(engine, session, job); },
        [this, engine, session] { return small_nets_.check(engine, session); });
  }

  [[nodiscard]] std::vector<int> engine_threads(const mlp::EngineInfo& engine) const {
    return engine.threaded && !options_.threads.empty() ? options_.threads : std::vector<int>{0};
  }
  /// The same, where there are CPU threads to choose.
  [[nodiscard]] std::vector<int> threads_of_peer(const std::string& peer) const {
    const bool asked =
        peer_device(peer, PeerTask::training) == DeviceKind::cpu && !options_.threads.empty();
    return asked ? options_.threads : peer_threads(peer, PeerTask::training);
  }

  void enter(const std::string& engine, int threads, DeviceKind device, SmallNets::MakeSteps make,
             std::function<ProvedNets()> check_small_nets) {
    StepContender contender;
    RaceRow& row = contender.row;
    row.name = row_name(engine, threads);
    row.engine = engine;
    row.threads = threads;
    row.device = device;
    contender.make = std::move(make);
    contender.check_small_nets = std::move(check_small_nets);
    contender.absence = row.is_peer() ? Absence::ends_all : Absence::skips_row;
    competition_.enter(std::move(contender));
  }

  void verify(StepContender& contender) {
    RaceRow& row = contender.row;
    const double flops = job_.training.network.flops_per_step(job_.training.batch);
    if (row.emulated() && flops * static_cast<double>(reference_.steps()) > most_emulated_flops) {
      throw Unavailable("an emulated GPU would take minutes to verify this network");
    }
    row.small_nets = contender.check_small_nets();
    if (!row.small_nets->worst.ok()) {
      row.check = row.small_nets->worst;
      return;
    }
    memory_.begin();
    contender.timed = contender.make(job_);
    const Sample first = contender.timed->sample(reference_.steps());
    std::vector<float> parameters(job_.start.size());
    contender.timed->fetch(parameters);
    row.check = reference_.check(parameters);
    const auto own_peak = contender.timed->own_peak_bytes();
    row.peak_bytes = own_peak ? own_peak : memory_.rise();
    row.provenance = contender.timed->provenance();
    if (row.emulated() || row.wrong()) {
      contender.timed.reset();
      return;
    }
    if (options_.quality) {
      progress_.stage("training with " + row.name);
      row.train_errors = count_errors(*contender.timed);
    }
    contender.cost = measure_cost(contender, first);
  }

  /// All steps, judged by one and the same engine.
  [[nodiscard]] std::int64_t count_errors(TimedSteps& steps) const {
    steps.sample(options_.most_steps);
    std::vector<float> parameters(job_.start.size());
    steps.fetch(parameters);
    const auto judge = mlp::require_engine("scalar").make_float32(job_.training, {});
    judge->set_parameters(parameters);
    const auto quality = mlp::quality_unless(interrupted, *judge, job_.training.network, job_.data);
    check_interrupt();
    return quality->errors;
  }

  /// The first sample met cold caches and sleeping threads; a second one says what a step takes.
  static RowCost measure_cost(StepContender& contender, const Sample& first) {
    const Stopwatch watch;
    const Sample second = contender.timed->sample(first.iterations);
    const double all = watch.seconds();
    return {.reset_seconds = std::max(0.0, all - second.seconds),
            .step_seconds = std::min(first, second, [](const Sample& a, const Sample& b) {
                              return a.seconds < b.seconds;
                            }).seconds_per_iteration()};
  }

  const TrainingJob& job_;
  const RaceOptions& options_;
  PeerPool& peers_;
  Progress& progress_;
  StepReference reference_;
  SmallNets small_nets_;
  MemoryWatch memory_;
  Competition<StepContender> competition_;
};

Value check_json(const RaceRow& row) {
  if (!row.check) {
    return nullptr;
  }
  return {{"ok", row.check->ok()},
          {"steps", row.check->steps},
          {"share_of_bound", row.check->share_of_bound},
          {"max_abs_error", row.check->max_abs_error},
          {"nonfinite", row.check->nonfinite},
          {"small_nets", small_nets_json(row.small_nets)}};
}

} // namespace

RaceResult run_race(const TrainingJob& job, const RaceOptions& options, double budget_seconds,
                    PeerPool& peers, Progress& progress) {
  return Race(job, options, peers, progress).run(budget_seconds);
}

std::string trouble(const RaceRow& row) {
  if (row.wrong()) {
    return fmt::format("{}: WRONG: {}; not timed", row.name, to_text(*row.check));
  }
  if (row.emulated() && row.check) {
    return row.name + ": verified; an emulation has no time";
  }
  return row.status == Status::ok
             ? ""
             : fmt::format("{}: {}: {}", row.name, to_string(row.status), row.reason);
}

StudyRow study_row(const RaceRow& row, SampleSeries series) {
  StudyRow own = study_row<RaceRow>(row, std::move(series), row_json(row));
  own.group = row.engine;
  own.threads = row.threads;
  own.trouble = trouble(row);
  return own;
}

Value samples_json(std::span<const Sample> samples, std::string_view iterations) {
  return Value::each(samples, [&](const Sample& sample) {
    Value json;
    json[iterations] = sample.iterations;
    json["seconds"] = sample.seconds;
    return json;
  });
}

Value row_json(const RaceRow& row) {
  return {{"row", row.name},
          {"racer", row.engine},
          {"device", row.device},
          {"status", row.status},
          {"reason", or_null(row.reason)},
          {"threads_asked", row.threads},
          {"provenance", provenance_json(row.provenance)},
          {"verified", check_json(row)},
          {"seconds_per_step", row.ranked() ? Value(row.step_seconds()) : Value()},
          {"width", width_json(row.samples)},
          {"train_errors", row.train_errors},
          {"peak_bytes", row.peak_bytes},
          {"samples", samples_json(row.samples, "steps")}};
}

void declare_race(OptionList& options, RaceSetting& setting, std::string_view default_engines,
                  std::string_view default_threads) {
  RaceOptions& race = setting.race;
  options.group("What runs");
  declare_engines(options, setting.choice, race.session, default_engines);
  declare_peers(options, race.peers);
  declare_thread_list(options, race.threads,
                      "such as 1,2: run threaded engines, and peers on the CPU, with each number",
                      default_threads);
  options.flag("--quality", race.quality,
               "also count the errors in the training rows after all steps: is the quality equal?");
  options.integer("--batch N", setting.batch, batch_limits, "rows in a step");
  declare_optimizer(options, setting.optimizer);
  declare_seed(options, setting.seed, "for parameters and data");
  declare_budget(options, setting.budget_seconds, setting.race.budget_binds);
}

double expected_seconds(const RaceSetting& setting, std::span<const mlp::Network> networks) {
  const RaceOptions& race = setting.race;
  if (race.budget_binds) {
    return setting.budget_seconds;
  }
  // About as many steps of middling speed verify and try a row.
  constexpr double steps = 6, operations_per_second = 1e10, start_seconds = 0.2;
  const auto rows = static_cast<double>((race.engines.size() + race.peers.size()) *
                                        std::max<std::size_t>(1, race.threads.size()));
  double seconds = setting.budget_seconds;
  for (const mlp::Network& network : networks) {
    seconds += rows * (start_seconds +
                       steps * network.flops_per_step(setting.batch) / operations_per_second);
  }
  return seconds;
}

void choose_engines(RaceSetting& setting) {
  setting.race.engines = choose_engines(setting.choice, setting.race.session.device);
  require_peers(setting.race.peers, PeerTask::training);
}

} // namespace diffbench::bench
