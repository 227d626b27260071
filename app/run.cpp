// SPDX-License-Identifier: Apache-2.0
// `diffbench run`: its options, what a checkpoint says about them, and what it shows.
#include "columns.hpp"
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/errors.hpp"
#include "long_run.hpp"
#include "option_groups.hpp"
#include "report_json.hpp"
#include "sbatch.hpp"
#include "units.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace diffbench::bench {

namespace {

/// "dt 0.1 where the checkpoint has 0.05"
template <typename Value>
void require_same(const LongRunOptions& run, std::string_view option, const Value& asked,
                  const Value& held, const std::string& file) {
  const auto& given = run.given_problem;
  if (std::ranges::find(given, option) != given.end() && asked != held) {
    throw InvalidInput(fmt::format("{} {}: the checkpoint '{}' has {}; leave the option out",
                                   option, asked, file, held));
  }
}

void declare_checkpoints(OptionList& options, LongRunOptions& run) {
  options.group("Checkpoints");
  options.output(
      "--checkpoint FILE", run.checkpoint, kind_of_output::checkpoint,
      "save the state, for --restart and numpy.load(); the one before becomes FILE.previous");
  options.companions(cluster::checkpoint_companions, "--restart");
  options.integer("--checkpoint-every K", run.checkpoint_every, iteration_limits,
                  "iterations between two checkpoints");
  options.text("--restart FILE", run.restart, "continue from that state, on any number of ranks");
  options.check([&run] {
    if (run.checkpoint.empty() != (run.checkpoint_every == 0)) {
      throw InvalidInput("--checkpoint FILE and --checkpoint-every K belong together: give both");
    }
  });
}

void declare_fields(OptionList& options, LongRunOptions& run) {
  options.output("--save FILE.npy", run.save, kind_of_output::field, "the final field");
  options.integer("--snapshot-every K", run.snapshot_every, iteration_limits,
                  "save the field every K iterations");
  options.text("--snapshot-dir DIR", run.snapshot_dir, "where");
  options.needs("--snapshot-dir", "--snapshot-every K", [&run] { return run.snapshot_every > 0; });
}

void declare_long_run(OptionList& options, LongRunOptions& run) {
  declare_problem(options, run);
  options.check([&] { run.given_problem = options.given_names("Problem"); });
  options.group("What runs");
  declare_backends(options, run.backends, "one (default: simd)");
  declare_threads(options, run.session.threads, "threads of each rank", "its share of the CPUs");
  declare_isa(options, run.session);
  declare_heeded(options, run.session.threads, [&run] { return run.backends; });
  declare_seconds(options, "--reference-time SECONDS", run.reference_seconds,
                  "that the oracle may take for the steps that it proves, at least 5");
  declare_transfer(options, run.session);
  declare_device_choice(options, run.session, run.device_chosen);
  declare_ranks(options, run.many);
  options.text(
      "--sbatch OPTIONS", run.sbatch,
      "do not run: print a job for Slurm, such as nodes=2,ntasks=8, and its predicted time");
  options.check([&run] {
    if (!run.sbatch.empty()) {
      check_sbatch(run.sbatch);
    }
  });
  declare_checkpoints(options, run);
  options.check([&run] {
    if (run.backends.size() > 1) {
      throw InvalidInput("run: it is one backend that runs: give one --backend");
    }
    if (run.backends.empty()) {
      run.backends = {"simd"};
    }
  });
  run.output.declare(options);
  declare_fields(options, run);
}

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
    {"seconds_per_iteration", "time/iter", as_seconds, field<&LongRun::step_seconds>},
    {"cells_per_second", nullptr, as_figure, field<&LongRun::cells_per_second>},
    {nullptr, "GCell/s", as_figure,
     [](const LongRun& run) {
       const auto rate = run.cells_per_second();
       return rate ? Value(*rate / 1e9) : Value();
     }},
    {"oversubscribed", nullptr, as_text, field<&LongRun::oversubscribed>},
    {"verified.bitwise", nullptr, as_text,
     [](const LongRun& run) { return run.unproved() ? Value() : Value(run.verified); }},
    {"verified.steps", nullptr, as_text, field<&LongRun::verified_steps>},
    {nullptr, "verified", as_text,
     [](const LongRun& run) -> Value {
       return run.verified     ? fmt::format("yes, {} steps", run.verified_steps)
              : run.unproved() ? "not yet"
                               : "NO";
     }},
    {"field.digest", nullptr, as_text, field<&LongRun::digest>},
    {"field.sha256", nullptr, as_text, field<&LongRun::sha256, or_null>},
};

} // namespace

Action declare_run(OptionList& options) {
  const auto typed = std::make_shared<LongRunOptions>();
  declare_long_run(options, *typed);
  return [typed](const Invocation& invocation) {
    if (!typed->sbatch.empty()) {
      return write_sbatch(*typed, invocation);
    }
    typed->many.ranks = invocation.ranks;
    refuse_without_ranks(typed->many);
    return run_long(*typed, invocation);
  };
}

std::string name_of(const InitialField& initial) {
  return to_string(initial) +
         (initial.kind == InitialField::Kind::random ? fmt::format(", seed {}", initial.seed) : "");
}

void take_problem(LongRunOptions& run, const cluster::CheckpointFacts& facts) {
  const std::string& file = run.restart;
  const Problem& asked = run.problem;
  const Problem& held = facts.problem;
  const auto grid = [](const Problem& problem) {
    return fmt::format("{}x{}", problem.nx, problem.ny);
  };
  require_same(run, "--grid", grid(asked), grid(held), file);
  require_same(run, "--dt", asked.dt, held.dt, file);
  require_same(run, "--diffusivity", asked.diffusivity, held.diffusivity, file);
  require_same(run, "--spacing", asked.spacing, held.spacing, file);
  require_same(run, "--boundary", to_string(asked.boundary), to_string(held.boundary), file);
  require_same(run, "--boundary-value", asked.boundary_value, held.boundary_value, file);
  require_same(run, "--dtype", to_string(asked.dtype), to_string(held.dtype), file);
  const bool seeded = std::ranges::find(run.given_problem, "--seed") != run.given_problem.end();
  require_same(run, seeded ? "--seed" : "--init",
               seeded ? fmt::format("random, seed {}", run.initial.seed) : name_of(run.initial),
               facts.initial, file);
  run.problem = held;
  if (facts.step > run.iterations) {
    throw InvalidInput(
        fmt::format("--restart {}: the checkpoint is of step {} already; give "
                    "more --iters",
                    file, facts.step));
  }
}

std::optional<double> LongRun::step_seconds() const {
  const bool timed = verified && !oversubscribed && last_step > first_step;
  return timed ? std::optional(seconds / static_cast<double>(last_step - first_step))
               : std::nullopt;
}

std::optional<double> LongRun::cells_per_second() const {
  const auto seconds = step_seconds();
  return seconds ? std::optional(static_cast<double>(cells) / *seconds) : std::nullopt;
}

LabReport long_run_report(const LongRunOptions& options, const std::string& initial,
                          const LongRun& run) {
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
  if (run.unproved()) {
    report.notes.emplace_back(
        run.nothing_left()
            ? "the checkpoint is of the last step: nothing was left to compute and to verify"
        : run.checkpoints > 0
            ? "interrupted before the backend began: these steps are the reference's own"
            : "interrupted before a step of the backend was compared with the reference");
  }
  if (run.verified_steps < options.iterations - run.first_step && run.verified) {
    report.notes.push_back(fmt::format("verified after {} of {}: the reference went no further",
                                       run.verified_steps,
                                       counted(options.iterations - run.first_step, "step")));
  }
  if ((run.verified || run.nothing_left()) && !run.interrupted && !options.save.empty() &&
      run.not_saved.empty()) {
    report.written.push_back(options.save);
  }
  if (run.snapshots > 0) {
    report.written.push_back(options.snapshot_dir);
    report.notes.push_back(counted(run.snapshots, "snapshot"));
  }
  if (run.checkpoints > 0) {
    report.notes.push_back(fmt::format("{} checkpoint{} in {}; the last one, '{}', is of step {}",
                                       run.checkpoints, run.checkpoints == 1 ? "" : "s",
                                       format_seconds(run.checkpoint_seconds), options.checkpoint,
                                       run.last_step));
  }
  ComparisonResult frame;
  frame.problem = problem;
  frame.initial = options.initial;
  frame.iterations = options.iterations;
  report.data = {{"problem", problem_json(frame)}, {"results", list_of(columns, {&run, 1})}};
  report.columns = heads_of(columns);
  report.data.at_path("problem.initial") = initial;
  report.interrupted = run.interrupted;
  if (!run.verified && !run.unproved()) {
    report.outcome = {.exit_code = exit_not_verified,
                      .complaint = fmt::format("{} differs from the reference after {} steps",
                                               run.backend, run.verified_steps)};
  }
  if (!run.not_saved.empty()) {
    report.outcome = {.exit_code = exit_error, .complaint = run.not_saved};
  }
  return report;
}

} // namespace diffbench::bench
