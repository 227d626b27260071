#include "long_run.hpp"

#include "columns.hpp"
#include "comparison.hpp"
#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/module.hpp"
#include "diffbench/cluster/thread_transport.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "output.hpp"
#include "planning.hpp"
#include "report_json.hpp"
#include "selection.hpp"
#include "units.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

using cluster::CheckpointFacts;

/// Ctrl-C, progress and a checkpoint wait no longer than a stretch of steps.
/// mpirun kills its ranks one second after it has told them of Ctrl-C.
constexpr double stretch_seconds = 0.2;
/// The reference may take so long, where the budget is less.
constexpr double least_limit_seconds = 5;

/// What came of it.
struct LongRun {
  std::string backend;
  Provenance provenance;
  int ranks = 1;
  bool oversubscribed = false;
  std::int64_t depth = 0;
  std::int64_t first_step = 0; ///< where it began
  std::int64_t last_step = 0;  ///< where it ended
  double seconds = 0;          ///< of these steps, checkpoints left out
  double checkpoint_seconds = 0;
  int checkpoints = 0;
  std::int64_t verified_steps = 0; ///< of the first ones
  bool verified = false;
  std::string digest;
  std::string sha256; ///< empty where the whole field was not put together
  bool interrupted = false;
  std::int64_t cells = 0;

  [[nodiscard]] std::optional<double> step_seconds() const {
    const bool timed = verified && !oversubscribed && last_step > first_step;
    return timed ? std::optional(seconds / static_cast<double>(last_step - first_step))
                 : std::nullopt;
  }
};

constexpr Column<LongRun> columns[] = {
    {"backend", "backend", as_text, field<&LongRun::backend>},
    {"ranks", "ranks", as_text, field<&LongRun::ranks>},
    {"threads", "threads a rank", as_text,
     [](const LongRun& run) -> Value { return run.provenance.threads; }},
    {"halo_depth", "halo depth", as_text,
     [](const LongRun& run) { return run.ranks > 1 ? Value(run.depth) : Value(); }},
    {"first_step", "from step", as_text, field<&LongRun::first_step>},
    {"last_step", "to step", as_text, field<&LongRun::last_step>},
    {"seconds", nullptr, as_seconds, field<&LongRun::seconds>},
    {"checkpoints", "checkpoints", as_text, field<&LongRun::checkpoints>},
    {"checkpoint_seconds", nullptr, as_seconds, field<&LongRun::checkpoint_seconds>},
    {"seconds_per_iteration", "time/iter", as_seconds,
     [](const LongRun& run) { return run.step_seconds() ? Value(*run.step_seconds()) : Value(); }},
    {"cells_per_second", nullptr, as_figure,
     [](const LongRun& run) {
       return run.step_seconds() ? Value(static_cast<double>(run.cells) / *run.step_seconds())
                                 : Value();
     }},
    {nullptr, "GCell/s", as_figure,
     [](const LongRun& run) {
       return run.step_seconds() ? Value(static_cast<double>(run.cells) / *run.step_seconds() / 1e9)
                                 : Value();
     }},
    {"oversubscribed", nullptr, as_text, field<&LongRun::oversubscribed>},
    {"verified.bitwise", nullptr, as_text, field<&LongRun::verified>},
    {"verified.steps", nullptr, as_text, field<&LongRun::verified_steps>},
    {nullptr, "verified", as_text,
     [](const LongRun& run) -> Value {
       return run.verified ? fmt::format("yes, {} steps", run.verified_steps) : "NO";
     }},
    {"field.digest", nullptr, as_text, field<&LongRun::digest>},
    {"field.sha256", nullptr, as_text, [](const LongRun& run) { return or_null(run.sha256); }},
};

/// As a checkpoint keeps it.
std::string name_of(const InitialField& initial) {
  return to_string(initial) +
         (initial.kind == InitialField::Kind::random ? fmt::format(", seed {}", initial.seed) : "");
}

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

/// Refuses what only the comparison can do, and another backend beside the one.
std::string the_backend(const Options& options) {
  if (options.backends.size() > 1) {
    throw InvalidInput(
        "--checkpoint, --restart and --distributed run one backend: name one with "
        "--backend");
  }
  const RecordOptions& record = options.record;
  for (const auto& [option, given] : {std::pair{"--peer", !options.peers.empty()},
                                      {"--png", !record.png.empty()},
                                      {"--snapshot-every", record.snapshot_every > 0},
                                      {"--trace", !options.trace.empty()},
                                      {"--telemetry", options.telemetry},
                                      {"--roundtrip-every", options.roundtrip_every > 0}}) {
    if (given) {
      throw InvalidInput(
          fmt::format("{} is of the comparison; it goes with none of --checkpoint, "
                      "--restart, --distributed",
                      option));
    }
  }
  return options.backends.empty() ? "simd" : options.backends.front();
}

/// "dt 0.1 where the checkpoint has 0.05"
template <typename Value>
void require_same(const Options& options, std::string_view option, const Value& asked,
                  const Value& held, const std::string& file) {
  const auto& given = options.many.given_problem;
  if (std::ranges::find(given, option) != given.end() && asked != held) {
    throw InvalidInput(fmt::format("{} {}: the checkpoint '{}' has {}; leave the option out",
                                   option, asked, file, held));
  }
}

/// The problem is the checkpoint's; an option that says otherwise is refused.
void take_problem(Options& options, const CheckpointFacts& facts) {
  const std::string& file = options.many.restart;
  const Problem& asked = options.problem;
  const Problem& held = facts.problem;
  const auto grid = [](const Problem& problem) {
    return fmt::format("{}x{}", problem.nx, problem.ny);
  };
  require_same(options, "--grid", grid(asked), grid(held), file);
  require_same(options, "--dt", asked.dt, held.dt, file);
  require_same(options, "--diffusivity", asked.diffusivity, held.diffusivity, file);
  require_same(options, "--spacing", asked.spacing, held.spacing, file);
  require_same(options, "--boundary", to_string(asked.boundary), to_string(held.boundary), file);
  require_same(options, "--boundary-value", asked.boundary_value, held.boundary_value, file);
  require_same(options, "--dtype", to_string(asked.dtype), to_string(held.dtype), file);
  const bool seeded =
      std::ranges::find(options.many.given_problem, "--seed") != options.many.given_problem.end();
  require_same(
      options, seeded ? "--seed" : "--init",
      seeded ? fmt::format("random, seed {}", options.initial.seed) : name_of(options.initial),
      facts.initial, file);
  options.problem = held;
  if (facts.step >= options.iterations) {
    throw InvalidInput(fmt::format("--restart {}: it has taken {} steps already; give more --iters",
                                   file, facts.step));
  }
}

template <typename T>
class Runner {
 public:
  Runner(const Options& options, const std::string& backend, cluster::Ranks& ranks,
         const std::optional<CheckpointFacts>& start, Progress& progress)
      : options_(options), ranks_(ranks), start_(start), progress_(progress) {
    run_.backend = backend;
    run_.ranks = ranks.size();
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
      session.load_checkpoint(options_.many.restart);
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
    const std::int64_t every = options_.many.checkpoint_every;
    const std::int64_t last = every > 0 ? next_checkpoint(run_.first_step) : options_.iterations;
    const std::int64_t steps = last - run_.first_step;
    const Stopwatch<> watch;
    std::int64_t& done = run_.verified_steps;
    for (std::int64_t slice = 1; done < steps && (done == 0 || watch.seconds() < limit);) {
      if (stopped()) {
        throw Interrupted();
      }
      const Stopwatch<> of_slice;
      const std::int64_t count = std::min(slice, steps - done);
      oracle->advance(count);
      done += count;
      slice *= of_slice.seconds() < stretch_seconds / 4 ? 2 : 1;
      progress_.update(std::max(static_cast<double>(done) / static_cast<double>(steps),
                                watch.seconds() / limit));
    }
    return oracle->digest();
  }

  /// Whole halo depths where there is time for them, so that the cut costs no exchange.
  void advance_to(std::int64_t last) {
    while (step_ < last && !stopped()) {
      const std::int64_t depth = std::max<std::int64_t>(1, run_.depth);
      auto count = static_cast<std::int64_t>(
          std::clamp(step_seconds_ > 0 ? stretch_seconds / step_seconds_ : 1, 1.0, 1e12));
      count = std::min(last - step_, count > depth ? count / depth * depth : count);
      const Stopwatch<> watch;
      session_->advance(count);
      const double seconds = watch.seconds();
      run_.seconds += seconds;
      step_seconds_ = seconds / static_cast<double>(count);
      step_ += count;
      progress_.update(static_cast<double>(step_ - run_.first_step) /
                       static_cast<double>(options_.iterations - run_.first_step));
    }
  }

  /// Verified on the way; with a checkpoint at every multiple of the interval, at the end, and when
  /// the user wants an end.
  void run_to_the_end(const cluster::FieldDigest& reference) {
    const std::int64_t verified_at = run_.first_step + run_.verified_steps;
    const std::int64_t every = options_.many.checkpoint_every;
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
    const std::int64_t every = options_.many.checkpoint_every;
    return std::min(options_.iterations, (step / every + 1) * every);
  }

  void save() {
    const ScopedTimer timer(run_.checkpoint_seconds);
    session_->save_checkpoint(options_.many.checkpoint, {.problem = options_.problem,
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
    if (!options_.record.save.empty()) {
      session_->write_npy(options_.record.save);
    }
    if (options_.problem.field_bytes() < available_memory() / 2) {
      Field<T> field(options_.problem.nx, options_.problem.ny, uninitialised);
      session_->download(field.cells());
      run_.sha256 = sha256_of_cells(std::as_const(field).cells());
    }
  }

  const Options& options_;
  cluster::Ranks& ranks_;
  const std::optional<CheckpointFacts>& start_;
  Progress& progress_;
  LongRun run_;
  std::unique_ptr<SessionOfRanks> session_;
  std::int64_t step_ = 0;
  double step_seconds_ = 0; ///< of the latest stretch
};

LabReport report_of(const Options& options, const std::string& initial, const LongRun& run) {
  LabReport report;
  TextTable table = table_of(columns);
  add_row(table, columns, run);
  const Problem& problem = options.problem;
  report.text = fmt::format("{}x{} {} {}, {} steps\n\n{}\ndigest {}\n", problem.nx, problem.ny,
                            to_string(problem.dtype), to_string(problem.boundary),
                            options.iterations, table.format(), run.digest);
  if (!run.sha256.empty()) {
    report.text += fmt::format("sha256 {}\n", run.sha256);
  }
  if (run.oversubscribed) {
    report.notes.emplace_back("more threads than CPUs: correctness only, no times");
  }
  if (run.verified_steps < options.iterations - run.first_step && run.verified) {
    report.notes.push_back(
        fmt::format("verified are the first {} steps: for all of them the reference takes too long",
                    run.verified_steps));
  }
  if (run.verified && !run.interrupted && !options.record.save.empty()) {
    report.written.push_back(options.record.save);
  }
  if (run.checkpoints > 0) {
    report.notes.push_back(fmt::format("{} checkpoint{} in {}; the last one, '{}', is of step {}",
                                       run.checkpoints, run.checkpoints == 1 ? "" : "s",
                                       format_seconds(run.checkpoint_seconds),
                                       options.many.checkpoint, run.last_step));
  }
  ComparisonResult frame;
  frame.problem = problem;
  frame.initial = options.initial;
  frame.iterations = options.iterations;
  report.data = {{"problem", problem_json(frame)}, {"results", list_of(columns, {&run, 1})}};
  report.data.at_path("problem.initial") = initial;
  report.interrupted = run.interrupted;
  if (!run.verified && !run.interrupted) {
    report.outcome = {.exit_code = exit_not_verified,
                      .complaint = fmt::format("{} differs from the reference after {} steps",
                                               run.backend, run.verified_steps)};
  }
  return report;
}

/// The backend's session on each rank of this machine, and a copy of its rows for a checkpoint.
void check_memory_of_ranks(const Options& options, const std::string& backend,
                           cluster::Ranks& ranks) {
  const Candidate candidate{.backend = require_backend(backend, options.session.device),
                            .probe = {},
                            .session = options.session,
                            .ranks = &ranks,
                            .halo_depth = options.many.halo_depth,
                            .gpu_aware = options.many.gpu_aware};
  const Problem& problem = options.problem;
  const std::int64_t rows = (problem.ny + ranks.size() - 1) / ranks.size();
  const std::int64_t free = available_memory();
  // First of all one rank's rows: beyond them the sums below could overflow.
  std::int64_t need = rows * problem.nx * problem.element_bytes();
  need = need > free ? need : memory_of(candidate, problem).host;
  const bool copies = !options.many.checkpoint.empty() || !options.many.restart.empty();
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
void check_before_work(const Options& options, const std::string& backend, cluster::Ranks& ranks) {
  check_writable_file("--save", options.record.save);
  check_writable_file("--checkpoint", options.many.checkpoint);
  cluster::require_halo(options.problem, ranks.size(), options.many.halo_depth);
  check_memory_of_ranks(options, backend, ranks);
}

} // namespace

int run_long(const Options& given, const Invocation& invocation) {
  Options options = given;
  const std::string backend = the_backend(options);
  std::optional<Alone> alone;
  cluster::Ranks* ranks = options.many.ranks;
  if (ranks == nullptr) {
    ranks = &alone.emplace().leader();
  }
  std::optional<CheckpointFacts> start;
  if (!options.many.checkpoint.empty() || !options.many.restart.empty()) {
    ranks->open_checkpoint_files();
  }
  if (!options.many.restart.empty()) {
    start = ranks->checkpoint_facts(options.many.restart);
    take_problem(options, *start);
  }
  check_before_work(options, backend, *ranks);
  const LabOutput output{.json = options.json,
                         .csv = options.csv,
                         .markdown = options.markdown,
                         .report = options.report,
                         .other = options.record.save,
                         .progress = options.progress};
  return run_experiment("run", output, invocation, [&](Progress& progress) {
    const LongRun run = options.problem.dtype == Dtype::float32
                            ? Runner<float>(options, backend, *ranks, start, progress).run()
                            : Runner<double>(options, backend, *ranks, start, progress).run();
    return report_of(options, start ? start->initial : name_of(options.initial), run);
  });
}

} // namespace diffbench::bench
