// SPDX-License-Identifier: Apache-2.0
// The verb: its options and exit codes. file_comparison.hpp decides.
#include "diffbench/errors.hpp"
#include "fail_on.hpp"
#include "file_comparison.hpp"
#include "lab_report.hpp"
#include "least_effect.hpp"
#include "option_list.hpp"
#include "recorded_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

namespace diffbench::bench {

namespace {

struct CompareOptions {
  std::string old_file, new_file;
  FailOn fail_on;
  bool across_machines = false;
  double run_spread = default_run_spread;
  LabOutput output;
};

/// What two quiet runs show (docs/measuring.md).
constexpr double visible_between_runs = 0.1;

LabReport report_of(const CompareOptions& options, const FileComparison& comparison) {
  LabReport report = comparison.report(options.old_file, options.new_file);
  if (!comparison.any_compared()) {
    report.outcome = {.exit_code = exit_error,
                      .complaint = "no row of the two files can be compared, see the reasons"};
    return report;
  }
  const auto& [fail_slower, fail_unclear] = options.fail_on;
  const std::string machines = options.across_machines ? "" : comparison.other_machine();
  if ((fail_slower || fail_unclear) && !machines.empty()) {
    report.outcome = {.exit_code = fail_unclear ? exit_regression : exit_ok,
                      .complaint = fmt::format(
                          "{}the runs are of two machines ({}), and --fail-on judges the code: "
                          "--across-machines judges both",
                          fail_unclear ? "unclear: " : "", machines)};
    return report;
  }
  if (const auto limit = fail_slower) {
    if (const auto slower = comparison.slower_by(*limit); !slower.empty()) {
      report.outcome = {.exit_code = exit_regression,
                        .complaint = fmt::format("slower by more than {:g} %: {}", 100 * *limit,
                                                 fmt::join(slower, ", "))};
      return report;
    }
  }
  const double limit = fail_slower.value_or(visible_between_runs);
  if (const auto blind = comparison.unable_to_see(limit); fail_unclear && !blind.empty()) {
    report.outcome = {
        .exit_code = exit_regression,
        .complaint = fmt::format("unclear: a slowdown of {:g} % would have got no verdict: {}",
                                 100 * limit, fmt::join(blind, ", "))};
  }
  return report;
}

int run_compare(const CompareOptions& options, const Invocation& invocation) {
  if (options.new_file.empty()) {
    throw InvalidInput("compare: give two result files: diffbench compare OLD.json NEW.json");
  }
  if (options.across_machines && !options.fail_on.slower && !options.fail_on.unclear) {
    throw InvalidInput("--across-machines: is for --fail-on");
  }
  return run_experiment("compare", options.output, invocation, [&](Progress&) {
    const RecordedRun old_run = read_recorded_run(options.old_file);
    const RecordedRun new_run = read_recorded_run(options.new_file);
    return report_of(options,
                     FileComparison(old_run, new_run, options.run_spread, least_effect_here()));
  });
}

} // namespace

Action declare_compare(OptionList& options) {
  const auto typed = std::make_shared<CompareOptions>();
  options.text("OLD FILE", typed->old_file,
               "result file of diffbench, Google Benchmark or hyperfine");
  options.text("NEW FILE", typed->new_file, "result file of the run to be judged");
  options.group("Verdict");
  declare_fail_on(
      options, typed->fail_on,
      "exit code 5 when a row is SLOWER by more than X%; unclear: also when such a slowdown could "
      "not have been seen (10 % without slower=); may be repeated");
  options.flag("--across-machines", typed->across_machines,
               "--fail-on also where the runs are of two machines (another CPU, GPU or number of "
               "cores); without it slower= then is exit code 0, and a line says why");
  options.percent("--run-spread X%", typed->run_spread, "how much runs of the same program differ");
  typed->output.declare(options);
  return [typed](const Invocation& invocation) { return run_compare(*typed, invocation); };
}

} // namespace diffbench::bench
