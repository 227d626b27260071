#include "mlp/race.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/mlp/training.hpp"
#include "interrupt.hpp"
#include "mlp/peers.hpp"
#include "mlp/products.hpp"
#include "planning.hpp"
#include "process_memory.hpp"
#include "rounds.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

/// An emulated GPU makes some 10 million operations a second.
constexpr double most_emulated_flops = 2e7;

/// A row while it is being measured.
struct Racer {
  RaceRow row;
  std::function<std::unique_ptr<Trainer>()> make;
  std::unique_ptr<Trainer> trainer; ///< gone when the row is not to be timed
  RowCost cost;
};

class Race {
 public:
  Race(const TrainingJob& job, const RaceOptions& options, PeerPool& peers, Progress& progress)
      : job_(job), options_(options), peers_(peers), progress_(progress), reference_(job) {}

  RaceResult run(double budget_seconds) {
    enter_all();
    try {
      for (Racer& racer : racers_) {
        verify_or_give_up(racer);
      }
      time(budget_seconds);
    } catch (const Interrupted&) {
    }
    RaceResult result{.rows = {}, .reference = reference_.engine()};
    for (Racer& racer : racers_) {
      RaceRow& row = racer.row;
      if (row.status == Status::ok && row.samples.empty() && !(row.check && row.emulated()) &&
          !(row.check && !row.check->ok())) {
        row.status = Status::skipped;
        row.reason = "interrupted before it was timed";
      }
      result.rows.push_back(std::move(row));
    }
    return result;
  }

 private:
  void enter_all() {
    for (const mlp::EngineInfo& engine : options_.engines) {
      for (const int threads : engine_threads(engine)) {
        SessionOptions session = options_.session;
        session.threads = threads;
        enter(std::string(engine.name), threads, to_string(engine.device),
              [this, engine, session] { return engine_trainer(engine, session, job_); });
      }
    }
    for (const std::string& peer : options_.peers) {
      for (const int threads : peer_threads(peer)) {
        enter("peer:" + peer, threads, to_string(peer_device(peer)), [this, peer, threads] {
          return peers_.trainer(peer, threads, options_.session.device, job_);
        });
      }
    }
    if (options_.products) {
      for (const int threads : roof_threads()) {
        enter("products", threads, "cpu",
              [this, threads] { return products_trainer(threads, job_); });
        racers_.back().row.is_roof = true;
      }
    }
  }

  [[nodiscard]] std::vector<int> engine_threads(const mlp::EngineInfo& engine) const {
    return engine.threaded && !options_.threads.empty() ? options_.threads : std::vector<int>{0};
  }
  [[nodiscard]] std::vector<int> roof_threads() const {
    return options_.threads.empty() ? std::vector<int>{1} : options_.threads;
  }

  void enter(const std::string& racer, int threads, std::string_view device,
             std::function<std::unique_ptr<Trainer>()> make) {
    RaceRow row;
    row.name = row_name(racer, threads);
    row.racer = racer;
    row.threads = threads;
    row.device = device;
    racers_.push_back({.row = std::move(row), .make = std::move(make), .trainer = {}, .cost = {}});
  }

  void verify_or_give_up(Racer& racer) {
    if (interrupted()) {
      throw Interrupted();
    }
    progress_.stage("verifying " + racer.row.name);
    RaceRow& row = racer.row;
    try {
      verify(racer);
    } catch (const Unavailable& error) {
      if (row.is_peer()) {
        throw;
      }
      give_up(racer, Status::skipped, error.what());
    } catch (const std::exception& error) {
      give_up(racer, Status::failed, error.what());
    }
  }

  static void give_up(Racer& racer, Status status, std::string reason) {
    racer.trainer.reset();
    if (interrupted()) {
      throw Interrupted();
    }
    racer.row.status = status;
    racer.row.reason = std::move(reason);
  }

  void verify(Racer& racer) {
    RaceRow& row = racer.row;
    const double flops = job_.training.network.flops_per_step(job_.training.batch);
    if (row.emulated() && flops * static_cast<double>(reference_.steps()) > most_emulated_flops) {
      give_up(racer, Status::skipped, "an emulated GPU would take minutes to verify this network");
      return;
    }
    memory_.begin();
    racer.trainer = racer.make();
    const Sample first = racer.trainer->sample(reference_.steps());
    if (!row.is_roof) {
      std::vector<float> parameters(job_.start.size());
      racer.trainer->fetch(parameters);
      row.check = reference_.check(parameters);
    }
    const auto own_peak = racer.trainer->own_peak_bytes();
    row.peak_bytes = own_peak ? own_peak : memory_.rise();
    row.provenance = racer.trainer->provenance();
    if (row.emulated() || (row.check && !row.check->ok())) {
      racer.trainer.reset();
      return;
    }
    if (options_.quality && !row.is_roof) {
      progress_.stage("training with " + row.name);
      row.train_errors = count_errors(*racer.trainer);
    }
    racer.cost = measure_cost(racer, first);
  }

  /// All steps, judged by one and the same engine.
  [[nodiscard]] std::int64_t count_errors(Trainer& trainer) const {
    trainer.sample(options_.most_steps);
    std::vector<float> parameters(job_.start.size());
    trainer.fetch(parameters);
    const auto judge = mlp::require_engine("scalar").make_float32(job_.training, {});
    judge->set_parameters(parameters);
    return mlp::quality_on(*judge, job_.training.network, job_.data).errors;
  }

  /// The first sample met cold caches and sleeping threads; a second one says what a step takes.
  static RowCost measure_cost(Racer& racer, const Sample& first) {
    const auto start = std::chrono::steady_clock::now();
    const Sample second = racer.trainer->sample(first.iterations);
    const double all = seconds_since<std::chrono::steady_clock>(start);
    return {.reset_seconds = std::max(0.0, all - second.seconds),
            .step_seconds = std::min(first, second, [](const Sample& a, const Sample& b) {
                              return a.seconds < b.seconds;
                            }).seconds_per_iteration()};
  }

  void time(double budget_seconds) {
    std::vector<Lane<Trainer>> lanes;
    std::vector<RaceRow*> owners;
    const auto timed = std::ranges::count_if(racers_, [](const Racer& r) { return !!r.trainer; });
    for (Racer& racer : racers_) {
      if (racer.trainer) {
        const double share = budget_seconds / static_cast<double>(timed);
        lanes.push_back({.contender = std::move(racer.trainer),
                         .plan = plan_samples(racer.cost, share, options_.most_steps),
                         .samples = {},
                         .failure = {},
                         .row = racer.row.name});
        owners.push_back(&racer.row);
      }
    }
    progress_.stage("timing");
    run_rounds<std::chrono::steady_clock>(
        std::span(lanes), 2 * budget_seconds, interrupted, [&](int done, int all) {
          progress_.update(static_cast<double>(done) / static_cast<double>(all));
        });
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      owners[i]->samples = std::move(lanes[i].samples);
      if (!lanes[i].failure.empty()) {
        owners[i]->status = Status::failed;
        owners[i]->reason = lanes[i].failure;
      }
    }
  }

  const TrainingJob& job_;
  const RaceOptions& options_;
  PeerPool& peers_;
  Progress& progress_;
  StepReference reference_;
  MemoryWatch memory_;
  std::vector<Racer> racers_;
};

} // namespace

double RaceRow::step_seconds() const { return iteration_quartiles(samples).median; }

RaceResult run_race(const TrainingJob& job, const RaceOptions& options, double budget_seconds,
                    PeerPool& peers, Progress& progress) {
  return Race(job, options, peers, progress).run(budget_seconds);
}

} // namespace diffbench::bench
