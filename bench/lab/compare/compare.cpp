// The verb: its options and exit codes. file_comparison.hpp decides.
#include "diffbench/errors.hpp"
#include "file_comparison.hpp"
#include "lab_report.hpp"
#include "least_effect.hpp"
#include "option_list.hpp"
#include "recorded_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace diffbench::bench {

namespace {

struct CompareOptions {
  std::string old_file, new_file;
  std::optional<double> fail_on;
  bool fail_on_unclear = false;
  double run_spread = default_run_spread;
  LabOutput output;
};

/// What two quiet runs show (docs/measuring.md).
constexpr double visible_between_runs = 0.1;

double parse_slower(std::string_view option, std::string_view text) {
  constexpr std::string_view kind = "slower=";
  try {
    if (text.starts_with(kind)) {
      return parse_percent(option, text.substr(kind.size()));
    }
  } catch (const InvalidInput&) { // its words would leave "slower=" out
  }
  throw InvalidInput(fmt::format(
      "{} {}: give unclear, or slower=X% with X above 0, up to 1000, such as slower=10%", option,
      text));
}

LabReport report_of(const CompareOptions& options, const FileComparison& comparison) {
  LabReport report = comparison.report(options.old_file, options.new_file);
  if (!comparison.any_compared()) {
    report.outcome = {.exit_code = exit_error,
                      .complaint = "no row of the two files can be compared, see the reasons"};
    return report;
  }
  if (options.fail_on) {
    if (const auto slower = comparison.slower_by(*options.fail_on); !slower.empty()) {
      report.outcome = {.exit_code = exit_regression,
                        .complaint = fmt::format("slower by more than {:g} %: {}",
                                                 100 * *options.fail_on, fmt::join(slower, ", "))};
      return report;
    }
  }
  const double limit = options.fail_on.value_or(visible_between_runs);
  if (const auto blind = comparison.unable_to_see(limit);
      options.fail_on_unclear && !blind.empty()) {
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
  const std::array inputs{options.old_file, options.new_file};
  refuse_to_overwrite("--json", options.output.json, inputs);
  refuse_to_overwrite("--csv", options.output.csv, inputs);
  refuse_to_overwrite("--report", options.output.report, inputs);
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
  options.text("OLD FILE", typed->old_file, "result file of diffbench or Google Benchmark");
  options.text("NEW FILE", typed->new_file, "result file of the run to be judged");
  options.group("Verdict");
  options.values("--fail-on slower=X%|unclear",
                 "exit code 5 when a row is SLOWER by more than X%; unclear: also when such a "
                 "slowdown could not have been seen (10 % without slower=); may be repeated",
                 [&typed = *typed](std::string_view option, const std::string& text) {
                   if (text == "unclear") {
                     typed.fail_on_unclear = true;
                   } else {
                     typed.fail_on = parse_slower(option, text);
                   }
                 });
  options.percent("--run-spread X%", typed->run_spread, "how much runs of the same program differ");
  typed->output.declare(options);
  return [typed](const Invocation& invocation) { return run_compare(*typed, invocation); };
}

} // namespace diffbench::bench
