#include "long_run.hpp"

#include "diffbench/cluster/module.hpp"
#include "diffbench/cluster/thread_transport.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/pace.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "selection.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

using cluster::CheckpointFacts;

/// The reference may take so long, where the budget is less.
constexpr double least_limit_seconds = 5;

/// This process as the only rank.
class Alone {
 public:
  Alone()
      : ranks_(1),
        leader_(ranks_.transport(0),
                {.command = "", .stop = interrupted, .checkpoint_files = [] {
                   return cluster::load_module("hdf5").checkpoint_files(nullptr);
                 }}) {}
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
    const cluster::FieldDigest reference = run_reference();
    session_ = make(run_.backend, options_.many.halo_depth);
    run_.provenance = session_->provenance();
    run_.depth = session_->depth();
    run_.oversubscribed = ranks_.oversubscribed(run_.provenance.threads);
    begin(*session_);
    progress_.stage("running");
    run_to_the_end(reference);
    run_.last_step = step_;
    run_.interrupted = stopped();
    run_.digest = to_string(session_->digest());
    keep_field();
    return run_;
  }

 private:
  using SessionOfRanks = cluster::RanksSession<T>;

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

  /// The oracle on the same ranks, for as many steps as there is time for, and not beyond the first
  /// checkpoint: what is not proved right must not replace an older one.
  cluster::FieldDigest run_reference() {
    progress_.stage("reference");
    const std::int64_t halo = options_.many.halo_depth;
    const auto oracle = make("scalar", halo > 0 ? halo : 1);
    begin(*oracle);
    const double limit = std::max(least_limit_seconds, options_.budget_seconds);
    const std::int64_t every = options_.checkpoint_every;
    const std::int64_t last = every > 0 ? next_checkpoint(run_.first_step) : options_.iterations;
    const std::int64_t steps = last - run_.first_step;
    const Stopwatch<> watch;
    Pace pace;
    std::int64_t& done = run_.verified_steps;
    while (done < steps && (done == 0 || watch.seconds() < limit)) {
      if (stopped()) {
        throw Interrupted();
      }
      const Stopwatch<> of_call;
      const std::int64_t count = pace.next(steps - done);
      oracle->advance(count);
      pace.took(count, of_call.seconds());
      done += count;
      progress_.update(std::max(static_cast<double>(done) / static_cast<double>(steps),
                                watch.seconds() / limit));
    }
    return oracle->digest();
  }

  /// Whole halo depths where there is time for them, so that the cut costs no exchange.
  void advance_to(std::int64_t last) {
    while (step_ < last && !stopped()) {
      const std::int64_t count = pace_.next(last - step_, std::max<std::int64_t>(1, run_.depth));
      const Stopwatch<> watch;
      session_->advance(count);
      const double seconds = watch.seconds();
      pace_.took(count, seconds);
      run_.seconds += seconds;
      step_ += count;
      progress_.update(static_cast<double>(step_ - run_.first_step) /
                       static_cast<double>(options_.iterations - run_.first_step));
    }
  }

  /// Verified on the way; with a checkpoint at every multiple of the interval, at the end, and when
  /// the user wants an end.
  void run_to_the_end(const cluster::FieldDigest& reference) {
    const std::int64_t verified_at = run_.first_step + run_.verified_steps;
    const std::int64_t every = options_.checkpoint_every;
    while (step_ < options_.iterations && !stopped()) {
      std::int64_t next = options_.iterations;
      if (step_ < verified_at) {
        next = std::min(next, verified_at);
      }
      if (every > 0) {
        next = std::min(next, next_checkpoint(step_));
      }
      advance_to(next);
      if (step_ == verified_at) {
        run_.verified = session_->digest() == reference;
        if (!run_.verified) {
          return;
        }
      }
      const bool due =
          step_ == options_.iterations || step_ % std::max<std::int64_t>(1, every) == 0;
      if (every > 0 && run_.verified && (due || stopped())) {
        save();
      }
    }
  }

  [[nodiscard]] std::int64_t next_checkpoint(std::int64_t step) const {
    const std::int64_t every = options_.checkpoint_every;
    return std::min(options_.iterations, (step / every + 1) * every);
  }

  void save() {
    const ScopedTimer timer(run_.checkpoint_seconds);
    session_->save_checkpoint(options_.checkpoint, {.problem = options_.problem,
                                                    .step = step_,
                                                    .initial = initial_name(),
                                                    .digest = {},
                                                    .version = version_text()});
    ++run_.checkpoints;
  }

  [[nodiscard]] std::string initial_name() const {
    return start_ ? start_->initial : name_of(options_.initial);
  }

  /// The digest that other runs have, where the field fits into this process.
  void keep_field() {
    if (!run_.verified || run_.interrupted) {
      return;
    }
    if (!options_.save.empty()) {
      session_->write_npy(options_.save);
    }
    if (options_.problem.field_bytes() < available_memory() / 2) {
      Field<T> field(options_.problem.nx, options_.problem.ny, uninitialised);
      session_->download(field.cells());
      run_.sha256 = sha256_of_cells(std::as_const(field).cells());
    }
  }

  const LongRunOptions& options_;
  cluster::Ranks& ranks_;
  const std::optional<CheckpointFacts>& start_;
  Progress& progress_;
  LongRun run_;
  std::unique_ptr<SessionOfRanks> session_;
  std::int64_t step_ = 0;
  Pace pace_;
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
  check_writable_file("--save", options.save);
  check_writable_file("--checkpoint", options.checkpoint);
  cluster::require_halo(options.problem, options.many.ranks->size(), options.many.halo_depth);
  check_memory_of_ranks(options);
}

} // namespace

int run_long(const LongRunOptions& given, const Invocation& invocation) {
  LongRunOptions options = given;
  std::optional<Alone> alone;
  cluster::Ranks& ranks =
      invocation.ranks != nullptr ? *invocation.ranks : alone.emplace().leader();
  options.many.ranks = &ranks;
  std::optional<CheckpointFacts> start;
  if (!options.checkpoint.empty() || !options.restart.empty()) {
    ranks.open_checkpoint_files();
  }
  if (!options.restart.empty()) {
    start = ranks.checkpoint_facts(options.restart);
    take_problem(options, *start);
  }
  check_before_work(options);
  return run_experiment("run", options.output, invocation, [&](Progress& progress) {
    const LongRun run = options.problem.dtype == Dtype::float32
                            ? Runner<float>(options, start, progress).run()
                            : Runner<double>(options, start, progress).run();
    return long_run_report(options, start ? start->initial : name_of(options.initial), run);
  });
}

} // namespace diffbench::bench
