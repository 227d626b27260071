// SPDX-License-Identifier: Apache-2.0
// What a run that lasts shows and keeps.
#include "columns.hpp"
#include "long_run.hpp"
#include "report_json.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace diffbench::bench {

namespace {

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
    {"field.sha256", nullptr, as_text, [](const LongRun& run) { return or_null(run.sha256); }},
};

} // namespace

std::optional<double> LongRun::step_seconds() const {
  const bool timed = verified && !oversubscribed && last_step > first_step;
  return timed ? std::optional(seconds / static_cast<double>(last_step - first_step))
               : std::nullopt;
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
  for (const std::string& file : {options.save, options.png}) {
    if ((run.verified || run.nothing_left()) && !run.interrupted && !file.empty()) {
      report.written.push_back(file);
    }
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
  return report;
}

} // namespace diffbench::bench
