// SPDX-License-Identifier: Apache-2.0
#include "lab_report.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "context.hpp"
#include "diffbench/terminal_text.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "report_file.hpp"
#include "report_json.hpp"
#include "result_lines.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

namespace diffbench::bench {

namespace {

/// What is shown and what is done, a paragraph.
std::string sentence_of(const LabReport& report) {
  const bool both = !report.sentence.empty() && !report.done.empty();
  return report.sentence + (both ? "\n" : "") + report.done;
}

std::vector<std::string> notes_of(const LabReport& report) {
  std::vector<std::string> notes = report.notes;
  notes.insert(notes.end(), report.findings.begin(), report.findings.end());
  return notes;
}

std::string table_text(const LabReport& report) {
  std::string text = report.text;
  for (const std::string& note : notes_of(report)) {
    text += "note: " + note + "\n";
  }
  const std::string sentence = sentence_of(report);
  return sentence.empty() ? text : text + "\n" + sentence + "\n";
}

/// A member that is there becomes what stands for none: no_conclusion, an empty list, null.
void withdraw(Value& value) {
  if (std::holds_alternative<std::string>(value.data())) {
    value = no_conclusion;
  } else if (std::holds_alternative<Value::List>(value.data())) {
    value = Value::list();
  } else {
    value = nullptr;
  }
}

void withdraw(Value& data, std::string_view path) {
  constexpr std::string_view each = "[].";
  const std::size_t list_ends = path.find(each);
  if (list_ends == std::string_view::npos) {
    if (!data.find(path).is_null()) {
      withdraw(data.at_path(path));
    }
    return;
  }
  const std::string_view list_path = path.substr(0, list_ends);
  if (list_path.empty() || !data.find(list_path).is_null()) {
    Value& list = list_path.empty() ? data : data.at_path(list_path);
    list = Value::each(list.elements(), [&](Value element) {
      withdraw(element, path.substr(list_ends + each.size()));
      return element;
    });
  }
}

/// Empty where it is not known what others did to each row, or they did nothing that is known: then
/// something else kept rows from the CPU.
std::optional<Width> width_of(const std::vector<SampleSeries>& series) {
  Width width;
  bool known = false;
  for (const SampleSeries& row : series) {
    known = known || disturbed(row.samples);
    const std::optional<Width> one = width_of(row.samples);
    if (!one) {
      return std::nullopt;
    }
    width = {.low = std::min(width.low, one->low), .high = std::max(width.high, one->high)};
  }
  return known ? std::optional(width) : std::nullopt;
}

/// A finding from figures of that width.
std::string beside_others(std::string finding, const Width& width) {
  return finding.empty()
             ? finding
             : fmt::format(
                   "{}\nThat was measured beside other programs: without them, each time would "
                   "be {} to {} times as long.",
                   finding, format_figure(width.low), format_figure(width.high));
}

} // namespace

void append_table(LabReport& report, const std::string& table, const std::string& figures) {
  report.figures = report.figures.value_or(report.text) + "\n" + figures;
  report.text += "\n" + table;
}

Value lab_part(const std::string& name, const std::string& command, const LabReport& report) {
  Value part = {{"schema", result_schema},           {"command", command},
                {"interrupted", report.interrupted}, {"disturbed", report.disturbed},
                {"width", width_json(report.width)}, {"experiment", name},
                {"sentence", sentence_of(report)},   {"notes", notes_of(report)},
                {"columns", report.columns},         {"pictures", pictures_json(report.pictures)}};
  if (name == comparison_name) {
    for (const Member& member : std::get<Value::Object>(report.data.data())) {
      part[member.key] = member.value;
    }
  } else {
    part[name] = report.data;
  }
  if (!report.assumed.is_null()) {
    part["assumed"] = report.assumed;
  }
  return part;
}

Value lab_result(const std::string& name, const std::string& command, const LabReport& report) {
  return result_file(run_context(), report.series, lab_part(name, command, report));
}

void mark_disturbed(LabReport& report, const LoadWatch& load) {
  const auto disturbance = report.disturbed ? std::nullopt : load.disturbance();
  if (disturbance) {
    report.disturbed = true;
    report.notes.push_back(*disturbance);
  }
}

void keep_conclusions(LabReport& report) {
  const Evidence figures = evidence(report.disturbed);
  if (concludes(figures)) {
    return;
  }
  report.width = width_of(report.series);
  report.sentence = report.width ? beside_others(std::move(report.sentence), *report.width)
                                 : concluded(figures, std::move(report.sentence));
  if (report.width) {
    return;
  }
  report.findings.clear();
  std::ranges::for_each(report.pictures, [](Picture& picture) { picture.marks.clear(); });
  if (report.figures) {
    report.text = *report.figures;
  }
  for (const std::string& path : report.found_in_data) {
    withdraw(report.data, path);
    if (report.rows && path.starts_with("[].")) { // the same lines
      withdraw(*report.rows, path);
    }
  }
}

void LabOutput::expect(double seconds, const std::string& what, bool binds) {
  expected = seconds > longest_without_progress
                 ? fmt::format("{} {}: {}", binds ? "up to" : "about",
                               seconds < 90 ? fmt::format("{:.0f} s", seconds)
                                            : fmt::format("{:.0f} min", seconds / 60),
                               what)
                 : "";
}

void LabOutput::declare(OptionList& options) {
  declare_files(options);
  options.output("--report FILE.html", report, kind_of_output::page,
                 "results as a page of pictures, as diffbench report makes it of --json");
  options.clearing_flag("--no-progress", progress, "no progress bar");
}

void LabOutput::declare_files(OptionList& options) {
  options.group("Output");
  options.output("--json FILE|-", json, kind_of_output::json,
                 "results as JSON; - is stdout, which then has nothing else");
  options.output("--csv FILE|-", csv, kind_of_output::csv, "results as CSV");
  options.output("--export-markdown FILE|-", markdown, kind_of_output::markdown,
                 "the printed report as a block of Markdown");
}

int show_report(const std::string& name, const LabOutput& output, const Invocation& invocation,
                const std::function<LabReport()>& make) {
  if (!output.report.empty()) {
    (void)report_page(); // a build without one says so now
  }
  const LabReport report = make();
  Outputs outputs;
  bool cut_short = report.interrupted;
  outputs.attempt([&] { // before anything of it is shown
    try {
      if (report.write) {
        report.write();
      }
      std::ranges::for_each(report.written, [&](const auto& file) { outputs.wrote(file); });
    } catch (const Interrupted&) {
      cut_short = true;
      tell(invocation.err, fmt::format("not written: {}", fmt::join(report.written, ", ")));
    }
  });
  outputs.write(invocation.out, output.json,
                [&] { return to_text(lab_result(name, invocation.command, report)); });
  outputs.write(invocation.out, output.csv,
                [&] { return csv_of(report.rows ? *report.rows : report.data.find("results")); });
  outputs.write(invocation.out, output.markdown, [&] {
    return fmt::format("{}\n````\n{}````\n", kind_of_output::markdown.magic,
                       without_controls(table_text(report), '?', "\n"));
  });
  if (!output.report.empty()) {
    outputs.attempt([&] {
      const std::string part =
          report_part("this run", json_of(lab_result(name, invocation.command, report)));
      write_report(output.report, {&part, 1});
      outputs.wrote(output.report);
    });
  }
  // After the files: a launcher gives its ranks little time after Ctrl-C, and may take no text
  // then.
  if (!takes_stdout({output.json, output.csv, output.markdown})) {
    outputs.attempt([&] { write_text(invocation.out, table_text(report)); });
  }
  outputs.finish(invocation.err);
  if (cut_short) {
    tell(invocation.err, "interrupted; what was measured until then is reported");
    return exit_interrupted;
  }
  if (!report.outcome.complaint.empty()) {
    tell(invocation.err, report.outcome.complaint);
  }
  return report.outcome.exit_code;
}

int run_experiment(const std::string& name, const LabOutput& output, const Invocation& invocation,
                   const std::function<LabReport(Progress&)>& measure) {
  // Until all is written.
  const InterruptGuard guard(output.progress && progress_possible() && invocation.err.good());
  return show_report(name, output, invocation, [&] {
    Progress progress(invocation.err, output.progress && progress_possible());
    if (output.progress && !output.expected.empty()) {
      progress.before_work([&] { tell(invocation.err, output.expected); });
    }
    LoadWatch load = load_watch(invocation.ranks);
    LabReport report = measure(progress);
    if (!report.series.empty() && !report.load_is_judged) { // something was timed
      for (const SampleSeries& series : report.series) {
        load.add_work(series.samples);
      }
      mark_disturbed(report, load);
    }
    keep_conclusions(report);
    return report;
  });
}

} // namespace diffbench::bench
