#include "comparison.hpp"

#include "bars.hpp"
#include "diffbench/cluster/rank_rows.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "experiment.hpp"
#include "field_frames.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "long_run.hpp"
#include "markdown.hpp"
#include "observation.hpp"
#include "option_groups.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "page.hpp"
#include "peer.hpp"
#include "planning.hpp"
#include "progress.hpp"
#include "record.hpp"
#include "report_csv.hpp"
#include "report_file.hpp"
#include "report_json.hpp"
#include "table.hpp"
#include "text_table.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace diffbench::bench {

namespace {

/// Reads an initial field from its file, and lets go of it again: most of what can be wrong with
/// the file shows only then.
template <typename T>
void check_initial_file(const Options& options) {
  Field<T> field(options.problem.nx, options.problem.ny);
  fill_initial(options.problem, options.initial, field);
}

/// Everything that can be refused is refused here, before any work.
void check_before_work(const Options& options, std::span<const Candidate> candidates) {
  for (const auto& [option, path] :
       {std::pair{"--json", options.json}, std::pair{"--csv", options.csv},
        std::pair{"--export-markdown", options.markdown}, std::pair{"--report", options.report},
        std::pair{"--trace", options.trace}, std::pair{"--save", options.record.save},
        std::pair{"--png", options.record.png}}) {
    check_writable_file(option, path);
  }
  if (!options.report.empty()) {
    (void)report_page(); // a build without one says so now
  }
  if (options.record.snapshot_every > 0) {
    check_writable_directory("--snapshot-dir", options.record.snapshot_dir);
  }
  if (options.many.ranks != nullptr) {
    cluster::require_halo(options.problem, options.many.ranks->size(), options.many.halo_depth);
  }
  check_memory(options, candidates, available_memory());
  if (options.initial.kind == InitialField::Kind::file) {
    if (options.problem.dtype == Dtype::float32) {
      check_initial_file<float>(options);
    } else {
      check_initial_file<double>(options);
    }
  }
  for (const std::string& name : options.peers) {
    if (const Probe probe = probe_peer(name); !probe.available) {
      throw Unavailable(fmt::format("--peer {}: {}", name, probe.reason));
    }
  }
}

/// Why no GPU row will run; empty when one will.
std::string why_no_gpu(std::span<const Candidate> candidates) {
  const auto& all = all_backends();
  const bool any_in_build = std::any_of(all.begin(), all.end(), [](const BackendInfo& backend) {
    return backend.device != DeviceKind::cpu;
  });
  std::string why = fmt::format("no CUDA backend is in this {}", any_in_build ? "run" : "build");
  for (const Candidate& candidate : candidates) {
    if (candidate.backend.device == DeviceKind::cpu) {
      continue;
    }
    if (candidate.probe.available) {
      return "";
    }
    why = fmt::format("no GPU can be used ({})", candidate.probe.reason);
  }
  return why;
}

/// Options that will do nothing are said to, on one line each.
void hint(const Options& options, std::span<const Candidate> candidates, std::ostream& err) {
  const std::string why = why_no_gpu(candidates);
  if (!options.gpu_options.empty() && !why.empty()) {
    err << fmt::format("diffbench: {}, so {} {} no effect\n", why,
                       fmt::join(options.gpu_options, ", "),
                       options.gpu_options.size() == 1 ? "has" : "have");
  } else if (options.record.async && options.record.snapshot_every == 0) {
    err << "diffbench: --async is for the copies of snapshots; without --snapshot-every it has no "
           "effect\n";
  }
}

/// Before anything is waited for.
void tell_expected(const Options& options, std::span<const Candidate> candidates,
                   std::ostream& err) {
  const auto available = std::ranges::count_if(
      candidates, [](const Candidate& candidate) { return candidate.probe.available; });
  const std::ptrdiff_t rows = available + std::ssize(options.peers);
  const double seconds =
      expected_seconds(options.budget_seconds, options.budget_binds, rows,
                       static_cast<double>(options.problem.cells()), options.iterations);
  if (options.progress && seconds > longest_without_progress) {
    err << fmt::format("diffbench: about {:.0f} s: {} row{}, {}\n", seconds, rows,
                       rows == 1 ? "" : "s",
                       options.budget_binds ? fmt::format("--budget {:g}", options.budget_seconds)
                                            : "--budget SECONDS sets a limit");
  }
}

/// Writes every output that was asked for. One that fails does not keep the others from being
/// written; the first failure is thrown at the end.
void write_results(const Options& options, const ComparisonResult& result,
                   const Observation& observation, std::ostream& out, std::ostream& err) {
  Outputs outputs;
  outputs.write(out, options.json, [&] { return format_json(result); });
  outputs.write(out, options.csv, [&] { return format_csv(result); });
  if (!options.report.empty()) {
    outputs.attempt([&] {
      const std::string part = report_part("this run", json_of(to_json(result)));
      write_report(options.report, {&part, 1});
      outputs.wrote(options.report);
    });
  }
  outputs.attempt([&] {
    observation.write_trace();
    if (!options.trace.empty()) {
      outputs.wrote(options.trace);
    }
  });
  if (!options.markdown.empty()) {
    keep_tables();
    outputs.write(out, options.markdown, [&] { return as_markdown(format_report(result)); });
  }
  if (!takes_stdout({options.json, options.csv, options.markdown})) {
    const auto terminal = options.bars ? terminal_size() : std::nullopt;
    const std::string bars = terminal ? format_bars(result, terminal->columns) : "";
    outputs.attempt([&] { write_text(out, format_report(result, bars)); });
  }
  outputs.finish(err);
}

/// What was interrupted before there was a result has a trace all the same.
ComparisonResult measure_observed(const Options& options, std::span<const Candidate> candidates,
                                  Progress& progress, Observation& observation) {
  try {
    ComparisonResult result = measure(options, candidates, progress, observation.observer());
    if (const auto note = note_on_left_out(options)) {
      result.notes.push_back(*note);
    }
    observation.report(result);
    return result;
  } catch (const Interrupted&) {
    observation.write_trace();
    throw;
  }
}

/// The report once more, now that there are snapshots.
void add_film(const Options& options, const ComparisonResult& result) {
  const RecordOptions& record = options.record;
  if (!options.report.empty() && record.snapshot_every > 0 &&
      record.snapshot_format == SnapshotFormat::npy) {
    const std::array parts{report_part("this run", json_of(to_json(result))),
                           field_part(record.snapshot_dir)};
    write_report(options.report, parts);
  }
}

/// With the table, or beside a result file on stdout.
void tell_recorded(const Options& options, const Recording& recording, std::ostream& out,
                   std::ostream& err) {
  const bool table = !takes_stdout({options.json, options.csv, options.markdown});
  write_text(table ? out : err, format_recording(recording) + "\n");
}

} // namespace

int run_comparison(const Options& options, std::ostream& out, std::ostream& err) {
  return run_comparison(options, select_backends(options), out, err);
}

int run_comparison(const Options& options, std::span<const Candidate> candidates, std::ostream& out,
                   std::ostream& err) {
  check_before_work(options, candidates);
  hint(options, candidates, err);
  tell_expected(options, candidates, err);
  const InterruptGuard guard(options.progress && progress_possible() && err.good());
  Progress progress(err, options.progress && progress_possible());
  Observation observation(options);
  const ComparisonResult result = measure_observed(options, candidates, progress, observation);
  progress.clear();
  write_results(options, result, observation, out, err);
  if (result.interrupted) {
    err << "diffbench: interrupted; what was measured until then is reported\n";
    return exit_interrupted;
  }
  if (options.record.wanted() && any_result(result)) {
    const Recording recording = record(options, result, candidates, progress);
    progress.clear();
    add_film(options, result);
    tell_recorded(options, recording, out, err);
    Outputs written;
    for (const std::string& path : {options.record.save, options.record.png}) {
      if (!path.empty()) {
        written.wrote(path);
      }
    }
    if (options.record.snapshot_every > 0) {
      written.wrote(options.record.snapshot_dir);
    }
    written.finish(err);
  }
  const Outcome outcome = outcome_of(result);
  if (!outcome.complaint.empty()) {
    err << "diffbench: " << outcome.complaint << '\n';
  }
  return outcome.exit_code;
}

Action declare_default(OptionList& options) {
  const auto run = std::make_shared<Options>();
  declare_comparison(options, *run);
  return [run](const Invocation& invocation) {
    run->command = invocation.command;
    run->many.ranks = invocation.ranks;
    if (run->many.ranks != nullptr) {
      run->many.ranks->set_time_limit(run->many.time_limit);
    }
    return run->many.long_run() ? run_long(*run, invocation)
                                : run_comparison(*run, invocation.out, invocation.err);
  };
}

} // namespace diffbench::bench
