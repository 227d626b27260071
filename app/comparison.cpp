// SPDX-License-Identifier: Apache-2.0
#include "comparison.hpp"

#include "assumed_report.hpp"
#include "bars.hpp"
#include "conclusion.hpp"
#include "diffbench/cluster/rank_rows.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/with_dtype.hpp"
#include "experiment.hpp"
#include "field_frames.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "long_run.hpp"
#include "observation.hpp"
#include "option_groups.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "peer.hpp"
#include "planning.hpp"
#include "progress.hpp"
#include "record.hpp"
#include "report_csv.hpp"
#include "report_file.hpp"
#include "report_json.hpp"
#include "table.hpp"
#include "text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace diffbench::bench {

namespace {

/// Reads an initial field from its file, and lets go of it again: most of what can be wrong with
/// the file shows only then.
template <typename T>
void check_initial_file(const RunPlan& run) {
  Field<T> field(run.problem.nx, run.problem.ny);
  fill_initial(run.problem, run.initial, field);
}

/// Everything that can be refused is refused here, before any work.
void check_before_work(const ComparisonOptions& options, std::span<const PlannedRow> planned_rows) {
  if (options.record.snapshot_every > 0) {
    check_writable_directory("--snapshot-dir", options.record.snapshot_dir);
  }
  if (options.many.ranks != nullptr) {
    cluster::require_halo(options.problem, options.many.ranks->size(), options.many.halo_depth);
  }
  check_memory(options.problem, planned_rows, options.peers.size(), available_memory());
  if (options.initial.kind == InitialField::Kind::file) {
    with_dtype(options.problem.dtype, [&]<typename T>(T) { check_initial_file<T>(options); });
  }
  for (const std::string& name : options.peers) {
    if (const Probe probe = probe_peer(name); !probe.available) {
      throw Unavailable(fmt::format("--peer {}: {}", name, probe.reason));
    }
  }
}

/// Why no GPU row will run; empty when one will.
std::string why_no_gpu(std::span<const PlannedRow> planned_rows) {
  const auto& all = all_backends();
  const bool any_in_build = std::ranges::any_of(
      all, [](const BackendInfo& backend) { return backend.device != DeviceKind::cpu; });
  std::string why = fmt::format("this {} has no CUDA backend", any_in_build ? "run" : "build");
  for (const PlannedRow& planned : planned_rows) {
    if (planned.backend.device == DeviceKind::cpu) {
      continue;
    }
    if (planned.probe.available) {
      return "";
    }
    why = fmt::format("no GPU can be used ({})", planned.probe.reason);
  }
  return why;
}

/// Options that will do nothing are said to, on one line each.
void hint(const ComparisonOptions& options, std::span<const PlannedRow> planned_rows,
          std::ostream& err) {
  const std::string why = why_no_gpu(planned_rows);
  if (!options.gpu_options.empty() && !why.empty()) {
    tell(err, fmt::format("{}, so {} {} no effect", why, fmt::join(options.gpu_options, ", "),
                          options.gpu_options.size() == 1 ? "has" : "have"));
  }
}

/// Before anything is waited for.
void expect(LabOutput& output, const ComparisonOptions& options,
            std::span<const PlannedRow> planned_rows) {
  const auto available = std::ranges::count_if(
      planned_rows, [](const PlannedRow& planned) { return planned.probe.available; });
  const std::ptrdiff_t rows = available + std::ssize(options.peers);
  const double seconds =
      expected_seconds(options.budget_seconds, options.budget_binds, rows,
                       static_cast<double>(options.problem.cells()), options.iterations);
  output.expect(seconds, fmt::format("{} row{}, {}", rows, rows == 1 ? "" : "s",
                                     limit_text(options.budget_seconds, options.budget_binds)));
}

/// What was interrupted before there was a result has a trace all the same.
ComparisonResult measure_observed(const ComparisonOptions& options,
                                  std::span<const PlannedRow> planned_rows,
                                  const Invocation& invocation, Progress& progress,
                                  Observation& observation) {
  try {
    ComparisonResult result = measure(options, planned_rows, progress, observation.observer(),
                                      load_watch(invocation.ranks));
    result.command = invocation.command;
    if (const auto note = note_on_left_out(options)) {
      result.notes.push_back(*note);
    }
    observation.report(result);
    return result;
  } catch (const Interrupted&) {
    observation.write_trace(invocation.command);
    throw;
  }
}

LabReport report_of(const ComparisonResult& result, bool bars) {
  const auto terminal = bars ? terminal_size() : std::nullopt;
  LabReport report;
  report.text = format_report(result);
  if (terminal) {
    report.shown = format_report(result, format_bars(result, terminal->columns));
  }
  report.file = to_json(result);
  report.rows = csv_lines(result);
  report.interrupted = result.interrupted;
  report.outcome = outcome_of(result);
  return report;
}

/// The run by a port that waits after every step, and by better ones.
AssumedRuns runs_on_card(const AssumedCard& card, const ComparisonResult& result) {
  const CellWork work = stencil_work(result.problem.dtype);
  const CardRun run{.cells = static_cast<double>(result.problem.cells()),
                    .steps = static_cast<double>(result.iterations)};
  AssumedRuns assumed{
      .card = card, .runs = {}, .bytes = device_bytes(result.problem), .ledger = true};
  const auto add = [&](const char* name, auto change) {
    CardRun one = run;
    change(one);
    assumed.runs.push_back(assume(card, name, one, work));
  };
  add("cuda_stream, waiting", [](CardRun& one) { one.waits_each_step = true; });
  add("cuda_stream, pageable", [](CardRun& one) { one.locked = false; });
  add("cuda_stream", [](CardRun&) {});
  add("cuda_graph", [](CardRun& one) { one.backend = "cuda_graph"; });
  add("cuda", [](CardRun& one) { one.backend = "cuda"; });
  const Row* cpu = concludes(evidence(result.disturbed))
                       ? fastest(result, [](const Row& row) { return !row.on_device(); })
                       : nullptr;
  if (cpu != nullptr) {
    assumed.rival = Rival{cpu->name, cpu->step_seconds()};
  }
  return assumed;
}

/// Below the measured report, in tables of its own.
void add_assumed(LabReport& report, const AssumedCard& card, const ComparisonResult& result) {
  LabReport assumed;
  assumed.rows = Value::list();
  append_assumed(assumed, runs_on_card(card, result), result);
  const std::string text = fmt::format("{}\n{}\n", assumed.text, assumed.sentence);
  report.text += text;
  if (report.shown) {
    *report.shown += text;
  }
  report.file->at_path("diffbench.assumed") = assumed.data.find("assumed");
  if (const Value& rows = assumed.data.find("assumed.rows"); !rows.is_null()) {
    add_marked_rows(report, rows);
  }
}

/// The report once more, now that there are snapshots.
void add_film(const ComparisonOptions& options, const ComparisonResult& result) {
  const RecordPlan& record = options.record;
  if (!options.output.report.empty() && record.snapshot_every > 0 &&
      record.snapshot_format == SnapshotFormat::npy) {
    const std::array parts{report_part("this run", json_of(to_json(result))),
                           field_part(record.snapshot_dir)};
    write_report(options.output.report, parts);
  }
}

/// The run after the timing, told with the table, or beside a result file on stdout.
void record_field(const ComparisonOptions& options, const ComparisonResult& result,
                  std::span<const PlannedRow> planned_rows, const Invocation& invocation) {
  const bool shows = options.output.progress && progress_possible();
  const InterruptGuard guard(shows && invocation.err.good());
  Progress progress(invocation.err, shows);
  const Recording recording = record(options.record, options, result, planned_rows, progress);
  progress.clear();
  add_film(options, result);
  const LabOutput& output = options.output;
  const bool table = !takes_stdout({output.json, output.csv, output.markdown});
  write_text(table ? invocation.out : invocation.err, format_recording(recording) + "\n");
  Outputs written;
  for (const std::string& path : {options.record.save, options.record.png}) {
    if (!path.empty()) {
      written.wrote(path);
    }
  }
  if (options.record.snapshot_every > 0) {
    written.wrote(options.record.snapshot_dir);
  }
  written.finish(invocation.err);
}

} // namespace

int run_comparison(const ComparisonOptions& options, std::span<const PlannedRow> planned_rows,
                   const Invocation& invocation) {
  Observation observation(options.observation, options.session.device);
  ComparisonResult result;
  LabOutput output = options.output;
  expect(output, options, planned_rows);
  const int exit_code = run_experiment("results", output, invocation, [&](Progress& progress) {
    check_before_work(options, planned_rows);
    hint(options, planned_rows, invocation.err);
    result = measure_observed(options, planned_rows, invocation, progress, observation);
    LabReport report = report_of(result, options.bars);
    if (options.assumed) {
      add_assumed(report, *options.assumed, result);
    }
    if (!options.observation.trace.empty()) {
      report.write = [&] { observation.write_trace(invocation.command); };
      report.written = {options.observation.trace};
    }
    return report;
  });
  if (!result.interrupted && options.record.wanted() && any_result(result)) {
    record_field(options, result, planned_rows, invocation);
  }
  return exit_code;
}

} // namespace diffbench::bench
