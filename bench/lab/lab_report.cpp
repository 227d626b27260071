#include "lab_report.hpp"

#include "columns.hpp"
#include "context.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "markdown.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "page.hpp"
#include "report_file.hpp"

#include <nlohmann/json.hpp>

namespace diffbench::bench {

namespace {

std::string table_text(const LabReport& report) {
  std::string text = report.text;
  for (const std::string& note : report.notes) {
    text += "note: " + note + "\n";
  }
  return report.sentence.empty() ? text : text + "\n" + report.sentence + "\n";
}

} // namespace

Value lab_part(const std::string& name, const std::string& command, const LabReport& report) {
  return {
      {"schema", result_schema},       {"command", command}, {"interrupted", report.interrupted},
      {"disturbed", report.disturbed}, {"experiment", name}, {"sentence", report.sentence},
      {"notes", report.notes},         {name, report.data}};
}

Value lab_result(const std::string& name, const std::string& command, const LabReport& report) {
  return report.file ? *report.file
                     : result_file(run_context(), report.series, lab_part(name, command, report));
}

void mark_disturbed(LabReport& report, const LoadWatch& load) {
  const auto disturbance = report.disturbed ? std::nullopt : load.disturbance();
  if (disturbance) {
    report.disturbed = true;
    report.notes.push_back(*disturbance);
  }
}

void LabOutput::declare(OptionList& options) {
  declare_files(options);
  options.text("--report FILE.html", report, "results as a page of pictures");
  options.flag("--no-progress", progress, "no progress bar", false);
}

void LabOutput::declare_files(OptionList& options) {
  options.group("Output");
  options.text("--json FILE|-", json, "results as JSON; - is stdout, and nothing else is then");
  options.text("--csv FILE|-", csv, "results as CSV");
  options.text("--export-markdown FILE|-", markdown, "what is printed, its tables as Markdown");
}

int show_report(const std::string& name, const LabOutput& output, const Invocation& invocation,
                const std::function<LabReport()>& make) {
  refuse_equal_paths({output.json, output.csv, output.markdown, output.report, output.other});
  check_writable_file("--json", output.json);
  check_writable_file("--csv", output.csv);
  check_writable_file("--export-markdown", output.markdown);
  check_writable_file("--report", output.report);
  if (!output.report.empty()) {
    (void)report_page(); // a build without one says so now
  }
  if (!output.markdown.empty()) {
    keep_tables();
  }
  const LabReport report = make();
  Outputs outputs;
  if (!takes_stdout({output.json, output.csv, output.markdown})) {
    outputs.attempt([&] { write_text(invocation.out, report.shown.value_or(table_text(report))); });
  }
  outputs.write(invocation.out, output.json,
                [&] { return to_text(lab_result(name, invocation.command, report)); });
  outputs.write(invocation.out, output.csv, [&] {
    return report.csv ? *report.csv
                      : csv_of(report.rows ? *report.rows : report.data.find("results"));
  });
  outputs.write(invocation.out, output.markdown, [&] { return as_markdown(table_text(report)); });
  if (!output.report.empty()) {
    outputs.attempt([&] {
      const std::string part =
          report_part("this run", json_of(lab_result(name, invocation.command, report)));
      write_report(output.report, {&part, 1});
      outputs.wrote(output.report);
    });
  }
  outputs.attempt([&] {
    if (report.write) {
      report.write();
    }
    for (const std::string& file : report.written) {
      outputs.wrote(file);
    }
  });
  outputs.finish(invocation.err);
  if (report.interrupted) {
    invocation.err << "diffbench: interrupted; what was measured until then is reported\n";
    return exit_interrupted;
  }
  if (!report.outcome.complaint.empty()) {
    invocation.err << "diffbench: " << report.outcome.complaint << '\n';
  }
  return report.outcome.exit_code;
}

int run_experiment(const std::string& name, const LabOutput& output, const Invocation& invocation,
                   const std::function<LabReport(Progress&)>& measure) {
  // Until all is written.
  const InterruptGuard guard(output.progress && progress_possible() && invocation.err.good());
  return show_report(name, output, invocation, [&] {
    Progress progress(invocation.err, output.progress && progress_possible());
    const LoadWatch load = load_watch(invocation.ranks);
    LabReport report = measure(progress);
    if (!report.series.empty()) { // something was timed
      mark_disturbed(report, load);
    }
    if (report.disturbed && !report.sentence.empty()) {
      report.sentence = softened(report.sentence);
    }
    return report;
  });
}

} // namespace diffbench::bench
