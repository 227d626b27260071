// SPDX-License-Identifier: Apache-2.0
#include "comparison.hpp"

#include "assumed_report.hpp"
#include "conclusion.hpp"
#include "diffbench/cluster/rank_rows.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/with_dtype.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "peer.hpp"
#include "planning.hpp"
#include "report_json.hpp"
#include "result_lines.hpp"
#include "table.hpp"
#include "verbs.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
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
    const std::string_view how = how_to_get_gpu_backends();
    if (options.backends.empty() && !how.empty()) {
      result.notes.push_back(fmt::format("without GPU backends: {}", how));
    }
    observation.report(result);
    return result;
  } catch (const Interrupted&) {
    observation.write_trace(invocation.command);
    throw;
  }
}

LabReport report_of(const ComparisonResult& result) {
  LabReport report;
  report.text = format_tables(result);
  report.sentence = verdict(result);
  report.data = to_json(result);
  report.columns = row_heads();
  report.pictures = row_pictures(result);
  for (const Row& row : result.rows) {
    if (row.ranked()) {
      report.series.push_back(sample_series(result.problem, row, "stencil"));
    }
  }
  report.rows = csv_lines(result);
  report.notes = result.notes;
  report.interrupted = result.interrupted;
  report.disturbed = result.disturbed;
  report.load_is_judged = true;
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
  const Row* cpu = fastest(result, [](const Row& row) { return !row.on_device(); });
  if (cpu != nullptr) {
    assumed.rival = Rival{cpu->name, cpu->step_seconds(), width_of(cpu->samples).value_or(Width())};
  }
  return assumed;
}

} // namespace

void declare_comparison(OptionList& options, ComparisonOptions& run) {
  declare_problem(options, run);
  declare_rows(options, run);
  options.integer(
      "--tolerance ULP", run.tolerance_ulps, {0, 1'000'000},
      "also time rows that differ from the reference by up to so many units in the last place; "
      "they are marked as not verified");
  declare_transfer(options, run.session);
  declare_device_choice(options, run.session, run.device_chosen);
  declare_round_trips(options, run.roundtrip_every);
  options.check([&] { run.gpu_options = options.given_names(gpu_group); });
  options.group("A GPU that is not here");
  declare_assume(options, run.assumed);
  declare_ranks(options, run.many);
  run.output.declare(options);
  options.output("--trace FILE", run.observation.trace, kind_of_output::trace,
                 "timeline of the run; open it with ui.perfetto.dev");
  options.flag("--telemetry", run.observation.telemetry,
               "energy, power, clocks and utilization while each row is timed");
}

int run_comparison(const ComparisonOptions& options, std::span<const PlannedRow> planned_rows,
                   const Invocation& invocation) {
  Observation observation(options.observation, options.session.device);
  LabOutput output = options.output;
  expect(output, options, planned_rows);
  return run_experiment(comparison_name, output, invocation, [&](Progress& progress) {
    check_before_work(options, planned_rows);
    hint(options, planned_rows, invocation.err);
    const ComparisonResult result =
        measure_observed(options, planned_rows, invocation, progress, observation);
    LabReport report = report_of(result);
    if (options.assumed) {
      append_assumed(report, runs_on_card(*options.assumed, result), result);
    }
    if (!options.observation.trace.empty()) {
      report.write = [&] { observation.write_trace(invocation.command); };
      report.written = {options.observation.trace};
    }
    return report;
  });
}

Action declare_default(OptionList& options) {
  const auto typed = std::make_shared<ComparisonOptions>();
  declare_comparison(options, *typed);
  return [typed](const Invocation& invocation) {
    typed->many.ranks = invocation.ranks;
    refuse_without_ranks(typed->many);
    return run_comparison(*typed, select_backends(*typed, typed->many), invocation);
  };
}

} // namespace diffbench::bench
