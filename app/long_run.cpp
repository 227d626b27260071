// SPDX-License-Identifier: Apache-2.0
#include "long_run.hpp"

#include "diffbench/cluster/checkpoint_lock.hpp"
#include "diffbench/cluster/thread_transport.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/pace.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/with_dtype.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "selection.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

using cluster::CheckpointFacts;

/// The reference may take so long, where the budget is less.
constexpr double least_limit_seconds = 5;

/// This process as the only rank.
class Alone {
 public:
  Alone() : ranks_(1), leader_(ranks_.transport(0), {.command = "", .stop = interrupted}) {}
  [[nodiscard]] cluster::Ranks& leader() { return leader_; }

 private:
  cluster::ThreadRanks ranks_;
  cluster::Ranks leader_;
};

template <typename T>
class Runner {
 public:
  Runner(const LongRunOptions& options, const std::optional<CheckpointFacts>& start,
         Progress& progress)
      : options_(options), ranks_(*options.many.ranks), start_(start), progress_(progress) {
    run_.backend = options.backend();
    run_.ranks = ranks_.size();
    run_.first_step = start ? start->step : 0;
    run_.cells = options.problem.cells();
    step_ = run_.first_step;
  }

  LongRun run() {
    run_steps();
    keep_field();
    return run_;
  }

 private:
  using SessionOfRanks = cluster::RanksSession<T>;

  void run_steps() {
    run_reference();
    if (run_.interrupted) {
      return;
    }
    session_ = make(run_.backend, options_.many.halo_depth);
    run_.provenance = session_->provenance();
    run_.depth = session_->depth();
    run_.oversubscribed = ranks_.oversubscribed(run_.provenance.threads);
    begin(*session_);
    progress_.stage("running");
    snap();
    run_to_the_end();
    run_.last_step = step_;
    run_.interrupted = stopped();
    run_.digest = to_string(session_->digest());
  }

  [[nodiscard]] bool stopped() const { return interrupted() || ranks_.stopped(); }

  std::unique_ptr<SessionOfRanks> make(const std::string& backend, std::int64_t depth) {
    return ranks_.make_session<T>({.backend = backend,
                                   .problem = options_.problem,
                                   .options = options_.session,
                                   .depth = depth,
                                   .gpu_aware = options_.many.gpu_aware});
  }

  void begin(SessionOfRanks& session) {
    if (start_) {
      session.load_checkpoint(options_.restart);
    } else {
      session.initialise(options_.initial);
    }
  }

  /// What the field must be after so many steps of this run.
  struct Waypoint {
    std::int64_t steps = 0;
    cluster::FieldDigest digest;
  };

  /// The oracle on the same ranks, for as many steps as there is time for, and not beyond the first
  /// checkpoint: what is not proved right must not replace an older one. Whenever it has taken
  /// twice as long as before its field's digest is kept, so that a run that is interrupted early is
  /// verified too, as far as the last of them. Interrupted itself, it leaves its own state.
  void run_reference() {
    progress_.stage("reference");
    const std::int64_t halo = options_.many.halo_depth;
    const auto oracle = make("scalar", halo > 0 ? halo : 1);
    begin(*oracle);
    const double limit = std::max(least_limit_seconds, options_.reference_seconds);
    const std::int64_t every = options_.checkpoint_every;
    const std::int64_t last =
        every > 0 ? next_multiple(run_.first_step, every) : options_.iterations;
    const std::int64_t steps = last - run_.first_step;
    if (steps == 0) {
      return;
    }
    const Stopwatch<> watch;
    Pace pace;
    std::int64_t done = 0;
    double next_waypoint = 0;
    while (done < steps && (done == 0 || watch.seconds() < limit)) {
      if (stopped()) {
        keep_reference(*oracle, done);
        return;
      }
      const Stopwatch<> of_call;
      const std::int64_t count = pace.next(steps - done);
      oracle->advance(count);
      pace.took(count, of_call.seconds());
      done += count;
      if (watch.seconds() >= next_waypoint) {
        waypoints_.push_back({done, oracle->digest()});
        next_waypoint = 2 * watch.seconds();
      }
      progress_.update(std::max(static_cast<double>(done) / static_cast<double>(steps),
                                watch.seconds() / limit));
    }
    if (waypoints_.back().steps < done) {
      waypoints_.push_back({done, oracle->digest()});
    }
  }

  /// The oracle's state is right, as far as it came.
  void keep_reference(SessionOfRanks& oracle, std::int64_t done) {
    run_.interrupted = true;
    run_.provenance = oracle.provenance();
    run_.last_step = step_ = run_.first_step + done;
    run_.digest = to_string(oracle.digest());
    if (options_.checkpoint_every > 0 && done > 0) {
      save(oracle);
    }
  }

  /// Whole halo depths where there is time for them, so that the cut costs no exchange. Each
  /// stretch is at most twice the longest before it, however little is left: the latest may have
  /// been fast by luck, and nobody can interrupt one.
  void advance_to(std::int64_t last) {
    while (step_ < last && !stopped()) {
      const std::int64_t whole = std::max<std::int64_t>(1, run_.depth);
      const std::int64_t count =
          std::min(pace_.next(last - step_, whole), std::max(whole, 2 * stretch_));
      const Stopwatch<> watch;
      session_->advance(count);
      const double seconds = watch.seconds();
      pace_.took(count, seconds);
      stretch_ = seconds > Pace::longest_call ? count / 2 : std::max(count, stretch_);
      run_.seconds += seconds;
      step_ += count;
      progress_.update(static_cast<double>(step_ - run_.first_step) /
                       static_cast<double>(options_.iterations - run_.first_step));
    }
  }

  /// Verified on the way; with a checkpoint at every multiple of the interval, at the end, and when
  /// the user wants an end.
  void run_to_the_end() {
    auto waypoint = waypoints_.begin();
    const std::int64_t every = options_.checkpoint_every;
    while (step_ < options_.iterations && !stopped()) {
      std::int64_t next = options_.iterations;
      if (waypoint != waypoints_.end()) {
        next = std::min(next, run_.first_step + waypoint->steps);
      }
      if (every > 0) {
        next = std::min(next, next_multiple(step_, every));
      }
      if (options_.snapshot_every > 0) {
        next = std::min(next, next_multiple(step_, options_.snapshot_every));
      }
      advance_to(next);
      if (waypoint != waypoints_.end() && step_ == run_.first_step + waypoint->steps) {
        run_.verified_steps = waypoint->steps;
        run_.verified = session_->digest() == waypoint->digest;
        if (!run_.verified) {
          return;
        }
        ++waypoint;
      }
      const bool due =
          step_ == options_.iterations || step_ % std::max<std::int64_t>(1, every) == 0;
      if (every > 0 && run_.verified && (due || stopped())) {
        save(*session_);
      }
      if (step_ == options_.iterations ||
          step_ % std::max<std::int64_t>(1, options_.snapshot_every) == 0) {
        snap();
      }
    }
  }

  [[nodiscard]] std::int64_t next_multiple(std::int64_t step, std::int64_t every) const {
    return std::min(options_.iterations, (step / every + 1) * every);
  }

  void save(SessionOfRanks& session) {
    const ScopedTimer timer(run_.checkpoint_seconds);
    session.save_checkpoint(options_.checkpoint, {.problem = options_.problem,
                                                  .step = step_,
                                                  .initial = initial_name(),
                                                  .version = version_text()});
    ++run_.checkpoints;
  }

  [[nodiscard]] std::string initial_name() const {
    return start_ ? start_->initial : name_of(options_.initial);
  }

  void snap() {
    if (options_.snapshot_every == 0) {
      return;
    }
    const std::filesystem::path directory = options_.snapshot_dir;
    std::filesystem::create_directories(directory);
    session_->write_npy(directory / fmt::format("step_{:09}.npy", step_));
    ++run_.snapshots;
  }

  /// The digest that other runs have, where the field fits into this process.
  void keep_field() {
    if (!(run_.verified || run_.nothing_left()) || run_.interrupted) {
      return;
    }
    if (options_.problem.field_bytes() < available_memory() / 2) {
      Field<T> whole(options_.problem.nx, options_.problem.ny, uninitialised);
      session_->download(whole.cells());
      run_.sha256 = sha256_of_cells(std::as_const(whole).cells());
    }
    try {
      if (!options_.save.empty()) {
        session_->write_npy(options_.save);
      }
    } catch (const Error& error) { // what was measured is not lost
      run_.not_saved = error.what();
    }
  }

  const LongRunOptions& options_;
  cluster::Ranks& ranks_;
  const std::optional<CheckpointFacts>& start_;
  Progress& progress_;
  LongRun run_;
  std::unique_ptr<SessionOfRanks> session_;
  std::vector<Waypoint> waypoints_; ///< of the reference
  std::int64_t step_ = 0;
  Pace pace_;
  std::int64_t stretch_ = 1; ///< the longest that was short enough, in steps
};

/// The backend's session on each rank of this machine, and a copy of its rows for a checkpoint.
void check_memory_of_ranks(const LongRunOptions& options) {
  const PlannedRow planned{.backend = require_backend(options.backend(), options.session.device),
                           .probe = {},
                           .session = options.session,
                           .ranks = options.many.ranks,
                           .halo_depth = options.many.halo_depth,
                           .gpu_aware = options.many.gpu_aware};
  cluster::Ranks& ranks = *options.many.ranks;
  const Problem& problem = options.problem;
  const std::int64_t rows = (problem.ny + ranks.size() - 1) / ranks.size();
  const std::int64_t free = available_memory();
  // First of all one rank's rows: beyond them the sums below could overflow.
  std::int64_t need = rows * problem.nx * problem.element_bytes();
  need = need > free ? need : memory_of(planned, problem).host;
  const bool copies = !options.checkpoint.empty() || !options.restart.empty();
  if (need <= free && copies) {
    need += rows * problem.nx * problem.element_bytes() * ranks.ranks_on_machine();
  }
  if (need > free) {
    throw InvalidInput(fmt::format(
        "a grid of {}x{} in {} needs {} of memory on this machine for {} rank{}, and {} are free: "
        "choose a smaller --grid or more machines",
        problem.nx, problem.ny, to_string(problem.dtype), format_bytes(need),
        ranks.ranks_on_machine(), ranks.ranks_on_machine() == 1 ? "" : "s", format_bytes(free)));
  }
}

/// Everything that can be refused is refused here, before any work.
void check_before_work(const LongRunOptions& options) {
  cluster::require_halo(options.problem, options.many.ranks->size(), options.many.halo_depth);
  check_memory_of_ranks(options);
  if (options.snapshot_every > 0) {
    check_writable_directory("--snapshot-dir", options.snapshot_dir);
  }
}

} // namespace

int run_long(const LongRunOptions& given, const Invocation& invocation) {
  LongRunOptions options = given;
  std::optional<Alone> alone;
  cluster::Ranks& ranks =
      invocation.ranks != nullptr ? *invocation.ranks : alone.emplace().leader();
  options.many.ranks = &ranks;
  std::optional<CheckpointFacts> start;
  if (!options.restart.empty()) {
    start = ranks.open_checkpoint(options.restart);
    take_problem(options, *start);
  }
  check_before_work(options);
  std::optional<cluster::CheckpointLock> lock;
  if (!options.checkpoint.empty()) {
    lock.emplace(options.checkpoint);
  }
  const double updates = static_cast<double>(options.problem.cells()) *
                         static_cast<double>(options.iterations - (start ? start->step : 0));
  constexpr double cells_per_second = 2e9;           // of a middling backend
  constexpr double cells_per_reference_second = 1e9; // of the oracle
  options.output.expect(
      updates / (cells_per_second * ranks.size()) +
          std::min(options.reference_seconds, updates / cells_per_reference_second),
      fmt::format("{} steps, and up to {:g} s of them proved", options.iterations,
                  options.reference_seconds));
  return run_experiment("run", options.output, invocation, [&](Progress& progress) {
    const LongRun run = with_dtype(options.problem.dtype, [&]<typename T>(T) {
      return Runner<T>(options, start, progress).run();
    });
    return long_run_report(options, start ? start->initial : name_of(options.initial), run);
  });
}

} // namespace diffbench::bench
