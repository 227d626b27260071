#include "verbs.hpp"

#include "columns.hpp"
#include "comparison_options.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "field_frames.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "page.hpp"
#include "report_file.hpp"
#include "result_lines.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> results;
  std::string snapshots, out = "report.html", csv;
};

/// The files that `path` stands for: itself, or those of the folder that it is.
std::vector<std::string> files_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".json" && entry.is_regular_file()) {
      files.push_back(entry.path().string());
    }
  }
  if (error) {
    throw InvalidInput(fmt::format("{}: cannot be read: {}", path, error.message()));
  }
  if (files.empty()) {
    throw InvalidInput(
        fmt::format("{}: no .json file is in this folder; diffbench --json FILE writes one", path));
  }
  std::ranges::sort(files);
  return files;
}

/// With each folder as the files in it.
std::vector<std::string> files_at(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::ranges::move(files_at(path), std::back_inserter(files));
  }
  return files;
}

/// Everything that can be refused before a file is read.
void check_before_work(const ReportOptions& options) {
  if (options.results.empty()) {
    throw InvalidInput(
        "report: name at least one result file, such as run.json of diffbench --json run.json, or "
        "a folder of them");
  }
  (void)report_page(); // a build without one says so now
  refuse_equal_paths({options.out, options.csv});
  check_writable_file("--out", options.out);
  check_writable_file("--csv", options.csv);
  refuse_to_overwrite("--out", options.out, options.results);
  refuse_to_overwrite("--csv", options.csv, options.results);
}

/// With nothing beside the lines where they go to stdout.
void tell_page(const ReportOptions& options, std::size_t files, const Invocation& invocation) {
  write_out(
      options.csv == stdout_name ? invocation.err : invocation.out,
      fmt::format("{}: {} result file{}, {:.1f} MB; open it in a browser\n", options.out, files,
                  files == 1 ? "" : "s", static_cast<double>(fs::file_size(options.out)) / 1e6));
}

int run_report(ReportOptions options, const Invocation& invocation) {
  options.results = files_at(options.results);
  check_before_work(options);
  // Of several files, as of a folder or *.json, those without results of this program are left out.
  const bool alone = options.results.size() == 1;
  const Origin welcome = alone ? Origin::ours : Origin::any_benchmark;
  std::vector<std::string> parts, left_out;
  Value lines = Value::list();
  for (const std::string& name : options.results) {
    nlohmann::ordered_json result;
    try {
      result = read_result_file(name, welcome, Detail::overview);
    } catch (const LiveFile&) {
      if (alone) {
        throw;
      }
      left_out.push_back(name + ": left out, since the live card of a page saved it");
      continue;
    }
    const nlohmann::ordered_json& own = member(result, "diffbench");
    if (own.is_null()) {
      left_out.push_back(name + ": left out, since another program wrote it");
      continue;
    }
    if (results_of(own).empty()) { // a run that measured nothing has nothing to draw
      throw InvalidInput(fmt::format("{}: has no results to draw", name));
    }
    parts.push_back(report_part(fs::path(name).filename().string(), result));
    if (!options.csv.empty()) {
      add_result_lines(name, own, lines);
    }
  }
  const std::size_t files = parts.size();
  if (files == 0) {
    throw InvalidInput("report: none of these files has results; name one of diffbench --json");
  }
  for (const std::string& line : left_out) {
    write_out(invocation.err, fmt::format("diffbench: {}\n", one_line(line)));
  }
  if (!options.snapshots.empty()) {
    parts.push_back(field_part(options.snapshots));
  }
  Outputs outputs;
  outputs.attempt([&] {
    write_report(options.out, parts);
    tell_page(options, files, invocation);
  });
  outputs.write(invocation.out, options.csv, [&] { return csv_of(lines); });
  outputs.rethrow_failure();
  return exit_ok;
}

} // namespace

Action declare_report(OptionList& options) {
  const auto typed = std::make_shared<ReportOptions>();
  options.files("RESULT FILE", typed->results,
                "result files (--json) of any of the commands, or folders of them");
  options.group("Output");
  options.text("--snapshots DIR", typed->snapshots,
               "the field of --snapshot-every as a film, from its .npy files");
  options.text("-o,--out FILE.html", typed->out, "the page");
  options.text("--csv FILE|-", typed->csv,
               "the results of all files as CSV; - is stdout, and nothing else is then");
  return [typed](const Invocation& invocation) { return run_report(*typed, invocation); };
}

} // namespace diffbench::bench
