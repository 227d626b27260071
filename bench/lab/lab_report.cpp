#include "lab_report.hpp"

#include "context.hpp"
#include "diffbench/atomic_file.hpp"
#include "interrupt.hpp"
#include "option_values.hpp"
#include "options.hpp"
#include "output.hpp"
#include "page.hpp"
#include "report_file.hpp"

#include <ostream>
#include <utility>

namespace diffbench::bench {

namespace {

std::string table_text(const LabReport& report) {
  std::string text = report.text;
  for (const std::string& note : report.notes) {
    text += "note: " + note + "\n";
  }
  return text + "\n" + report.sentence + "\n";
}

} // namespace

nlohmann::ordered_json lab_result(const std::string& name, const std::string& command,
                                  const LabReport& report) {
  nlohmann::ordered_json own{
      {"schema", result_schema}, {"command", command},          {"interrupted", report.interrupted},
      {"experiment", name},      {"sentence", report.sentence}, {"notes", report.notes},
      {name, report.data}};
  return result_file(run_context(), report.series, std::move(own));
}

void LabOutput::declare(CLI::App& app) {
  begin_group(app, "Output");
  declare_value(app, "--json", json, "FILE|-",
                "results as JSON; - is stdout, and nothing else is then");
  declare_value(app, "--report", report, "FILE.html", "results as a page of pictures");
  declare_flag(app, "--no-progress", no_progress, "no progress bar");
}

int run_experiment(const std::string& name, const LabOutput& output, const Invocation& invocation,
                   const std::function<LabReport(Progress&)>& measure) {
  const bool to_stdout = output.json == stdout_name;
  refuse_equal_paths({output.json, output.report, output.other});
  if (!output.json.empty() && !to_stdout) {
    check_writable_file("--json", output.json);
  }
  if (!output.report.empty()) {
    (void)report_page(); // a build without one says so now
    check_writable_file("--report", output.report);
  }
  const InterruptGuard guard;
  Progress progress(invocation.err, !output.no_progress && progress_possible());
  const LabReport report = measure(progress);
  progress.clear();
  Outputs outputs;
  outputs.attempt([&] {
    write_out(invocation.out, to_stdout ? to_text(lab_result(name, invocation.command, report))
                                        : table_text(report));
  });
  if (!output.json.empty() && !to_stdout) {
    outputs.attempt([&] {
      write_atomically(output.json, [&](std::ostream& file) {
        file << to_text(lab_result(name, invocation.command, report));
      });
    });
  }
  if (!output.report.empty()) {
    outputs.attempt([&] {
      const std::string part =
          report_part("this run", lab_result(name, invocation.command, report));
      write_report(output.report, {&part, 1});
    });
  }
  outputs.rethrow_failure();
  if (report.interrupted) {
    invocation.err << "diffbench: interrupted; what was measured until then is reported\n";
    return exit_interrupted;
  }
  if (!report.outcome.complaint.empty()) {
    invocation.err << "diffbench: " << report.outcome.complaint << '\n';
  }
  return report.outcome.exit_code;
}

} // namespace diffbench::bench
