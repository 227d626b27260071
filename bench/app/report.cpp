#include "verbs.hpp"

#include "columns.hpp"
#include "comparison_options.hpp"
#include "diffbench/errors.hpp"
#include "field_frames.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "page.hpp"
#include "report_file.hpp"
#include "result_lines.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> results;
  std::string snapshots, out = "report.html", csv;
};

/// Everything that can be refused before a file is read.
void check_before_work(const ReportOptions& options) {
  if (options.results.empty()) {
    throw InvalidInput(
        "report: name at least one result file, such as run.json of diffbench --json run.json");
  }
  (void)report_page(); // a build without one says so now
  refuse_equal_paths({options.out, options.csv});
  check_writable_file("--out", options.out);
  check_writable_file("--csv", options.csv);
  refuse_to_overwrite("--out", options.out, options.results);
  refuse_to_overwrite("--csv", options.csv, options.results);
}

/// With nothing beside the lines where they go to stdout.
void tell_page(const ReportOptions& options, const Invocation& invocation) {
  write_out(options.csv == stdout_name ? invocation.err : invocation.out,
            fmt::format("{}: {} result file{}, {:.1f} MB; open it in a browser\n", options.out,
                        options.results.size(), options.results.size() == 1 ? "" : "s",
                        static_cast<double>(fs::file_size(options.out)) / 1e6));
}

int run_report(const ReportOptions& options, const Invocation& invocation) {
  check_before_work(options);
  std::vector<std::string> parts;
  Value lines = Value::list();
  for (const std::string& name : options.results) {
    const nlohmann::ordered_json result = read_result_file(name, Origin::ours, Detail::overview);
    const nlohmann::ordered_json& own = result["diffbench"];
    if (results_of(own).empty()) { // a run that measured nothing has nothing to draw
      throw InvalidInput(fmt::format("{}: has no results to draw", name));
    }
    parts.push_back(report_part(fs::path(name).filename().string(), result));
    if (!options.csv.empty()) {
      add_result_lines(name, own, lines);
    }
  }
  if (!options.snapshots.empty()) {
    parts.push_back(field_part(options.snapshots));
  }
  Outputs outputs;
  outputs.attempt([&] {
    write_report(options.out, parts);
    tell_page(options, invocation);
  });
  outputs.write(invocation.out, options.csv, [&] { return csv_of(lines); });
  outputs.rethrow_failure();
  return exit_ok;
}

} // namespace

Action declare_report(OptionList& options) {
  const auto typed = std::make_shared<ReportOptions>();
  options.files("RESULT FILE", typed->results, "result files (--json) of any of the commands");
  options.group("Output");
  options.text("--snapshots DIR", typed->snapshots,
               "the field of --snapshot-every as a film, from its .npy files");
  options.text("-o,--out FILE.html", typed->out, "the page");
  options.text("--csv FILE|-", typed->csv,
               "the results of all files as CSV; - is stdout, and nothing else is then");
  return [typed](const Invocation& invocation) { return run_report(*typed, invocation); };
}

} // namespace diffbench::bench
