// The verb: its options and exit codes. file_comparison.hpp decides.
#include "diffbench/errors.hpp"
#include "file_comparison.hpp"
#include "lab_report.hpp"
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
  double run_spread = default_run_spread;
  LabOutput output;
};

double parse_fail_on(std::string_view option, std::string_view text) {
  constexpr std::string_view kind = "slower=";
  try {
    if (text.starts_with(kind)) {
      return parse_percent(option, text.substr(kind.size()));
    }
  } catch (const InvalidInput&) { // its words would leave "slower=" out
  }
  throw InvalidInput(fmt::format(
      "{} {}: give slower=X% with X above 0, up to 1000, such as slower=5%", option, text));
}

LabReport report_of(const CompareOptions& options, const FileComparison& comparison) {
  LabReport report = comparison.report(options.old_file, options.new_file);
  if (!comparison.any_compared()) {
    report.outcome = {.exit_code = exit_error,
                      .complaint = "no row of the two files can be compared, see the reasons"};
  } else if (options.fail_on) {
    if (const auto slower = comparison.slower_by(*options.fail_on); !slower.empty()) {
      report.outcome = {.exit_code = exit_regression,
                        .complaint = fmt::format("slower by more than {:g} %: {}",
                                                 100 * *options.fail_on, fmt::join(slower, ", "))};
    }
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
    return report_of(options, FileComparison(old_run, new_run, options.run_spread));
  });
}

} // namespace

Action declare_compare(OptionList& options) {
  const auto typed = std::make_shared<CompareOptions>();
  options.text("OLD FILE", typed->old_file, "result file of diffbench or Google Benchmark");
  options.text("NEW FILE", typed->new_file, "the same of the run to be judged");
  options.group("Verdict");
  options.value("--fail-on slower=X%", "exit code 5 when a row is SLOWER, and by more than that",
                [&typed = *typed](std::string_view option, const std::string& text) {
                  typed.fail_on = parse_fail_on(option, text);
                });
  options.percent("--run-spread X%", typed->run_spread,
                  "how far runs of the same program lie apart");
  typed->output.declare(options);
  return [typed](const Invocation& invocation) { return run_compare(*typed, invocation); };
}

} // namespace diffbench::bench
