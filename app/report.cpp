// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "lesson/class_sheets.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "report_file.hpp"
#include "result_lines.hpp"
#include "result_reader.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> results;
  std::string out = "report.html", csv;
};

/// A file that may be in the page.
struct Input {
  std::string path;
  bool in_folder = false; ///< nobody named it: where it cannot be shown, it is left out
};

bool is_sheet(const Input& input) { return may_be_class_sheet(input.path); }

/// What `path` stands for: itself, or the result files and class sheets of the folder
/// that it is; sheets also of folders in it, as a class hands them in.
std::vector<Input> inputs_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {{.path = path}};
  }
  std::vector<Input> inputs;
  constexpr int deepest = 3;
  constexpr auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, skip, error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code unknown; // of a link to itself, for one: it is no file
    if (entry.depth() == deepest || entry->path().filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    }
    if (entry->is_regular_file(unknown) &&
        (may_be_class_sheet(entry->path()) ||
         (entry.depth() == 0 && entry->path().extension() == ".json"))) {
      inputs.push_back({.path = entry->path().string(), .in_folder = true});
    }
  }
  if (error) {
    throw InvalidInput(fmt::format("{}: cannot be read: {}", path, error.message()));
  }
  if (inputs.empty()) {
    throw InvalidInput(fmt::format(
        "{}: neither a .json file nor a class sheet is in this folder; diffbench --json "
        "FILE writes one, and diffbench lesson the other",
        path));
  }
  std::ranges::sort(inputs, {}, &Input::path);
  return inputs;
}

std::vector<Input> inputs_at(const std::vector<std::string>& paths) {
  std::vector<Input> inputs;
  for (const std::string& path : paths) {
    std::ranges::move(inputs_at(path), std::back_inserter(inputs));
  }
  return inputs;
}

/// Everything that can be refused before a file is read.
void check_before_work(const ReportOptions& options, const std::vector<Input>& inputs) {
  if (inputs.empty()) {
    throw InvalidInput(
        "report: name at least one result file, such as run.json of diffbench --json run.json, or "
        "a folder of them");
  }
  (void)report_page(); // a build without one says so now
  std::vector<std::string> paths;
  std::ranges::transform(inputs, std::back_inserter(paths), &Input::path);
  refuse_to_overwrite("--out", options.out, paths);
  refuse_to_overwrite("--csv", options.csv, paths);
}

struct Contents {
  std::vector<std::string> parts; ///< of the page
  Value lines = Value::list();    ///< of --csv
  std::vector<std::string> left_out;
  std::int64_t files = 0, sheets = 0; ///< that were read

  void add(const std::string& path, const nlohmann::ordered_json& result, bool with_lines) {
    const nlohmann::ordered_json& own = member(result, "diffbench");
    if (own.is_null()) { // of several files, as of *.json, those of Google Benchmark are left out
      left_out.push_back(path + ": another program wrote it");
      return;
    }
    if (results_of(own).empty()) { // a run that measured nothing has nothing to draw
      throw InvalidInput(fmt::format("{}: has no results to draw", path));
    }
    parts.push_back(report_part(fs::path(path).filename().string(), result));
    if (with_lines) {
      add_result_lines(path, own, lines);
    }
  }
};

/// Those of a class together: a part for each lesson.
void add_sheets(const std::vector<fs::path>& paths, bool with_lines, Contents& contents) {
  ClassSheets sheets = read_class_sheets(paths);
  for (std::size_t i = 0; i < sheets.results.size(); ++i) {
    contents.add(sheets.names[i], sheets.results[i], with_lines);
  }
  contents.sheets = static_cast<std::int64_t>(paths.size() - sheets.left_out.size());
  std::ranges::move(sheets.left_out, std::back_inserter(contents.left_out));
}

Contents read_inputs(const std::vector<Input>& inputs, bool with_lines) {
  const Origin welcome = inputs.size() == 1 ? Origin::ours : Origin::any_benchmark;
  Contents contents;
  std::vector<fs::path> sheets;
  for (const Input& input : inputs) {
    if (is_sheet(input)) {
      sheets.emplace_back(input.path);
      continue;
    }
    try {
      contents.add(input.path, read_result_file(input.path, welcome, Detail::overview), with_lines);
    } catch (const OtherFile& error) {
      if (inputs.size() == 1) {
        throw;
      }
      contents.left_out.emplace_back(error.what());
    } catch (const InvalidInput& error) {
      if (!input.in_folder) {
        throw;
      }
      contents.left_out.emplace_back(error.what());
    }
  }
  contents.files = static_cast<std::int64_t>(contents.parts.size());
  add_sheets(sheets, with_lines, contents);
  if (contents.parts.empty()) {
    throw InvalidInput(
        fmt::format("report: none of {} file{} can be shown; name a file of diffbench --json. "
                    "{}{}",
                    inputs.size(), inputs.size() == 1 ? "" : "s",
                    inputs.size() == 1 ? "" : "The first: ", contents.left_out.front()));
  }
  return contents;
}

/// On stdout, unless lines go there: "page.html: 2 result files, 1.2 MB; open it in a browser".
void tell_page(const std::string& path, const std::string& holds, bool stdout_is_taken,
               const std::string& what_next, const Invocation& invocation) {
  std::error_code no_file; // of a pipe or a device, whose reader has the page
  const auto bytes = static_cast<double>(fs::file_size(path, no_file));
  std::vector<std::string> facts;
  for (const std::string& fact : {holds, no_file ? "" : fmt::format("{:.1f} MB", bytes / 1e6)}) {
    if (!fact.empty()) {
      facts.push_back(fact);
    }
  }
  write_text(stdout_is_taken || no_file ? invocation.err : invocation.out,
             fmt::format("{}{}{}; {}\n", path, facts.empty() ? "" : ": ", fmt::join(facts, ", "),
                         what_next));
}

std::string read_text(const Contents& contents) {
  std::vector<std::string> read;
  for (const auto& [files, what] :
       {std::pair(contents.files, "result file"), std::pair(contents.sheets, "class sheet")}) {
    if (files > 0) {
      read.push_back(counted(files, what));
    }
  }
  return fmt::format("{}", fmt::join(read, " and "));
}

int run_live(const std::string& path, const Invocation& invocation) {
  (void)report_page(); // a build without one says so now
  // What the page looks for to show the card alone (viz/src/main.ts).
  const std::string part = data_element("live", nlohmann::ordered_json::object());
  write_report(path, {&part, 1});
  tell_page(path, "", false, "open it in a browser and press Measure", invocation);
  return exit_ok;
}

int run_report(const ReportOptions& options, const Invocation& invocation) {
  const std::vector<Input> inputs = inputs_at(options.results);
  check_before_work(options, inputs);
  const Contents contents = read_inputs(inputs, !options.csv.empty());
  for (const std::string& file : contents.left_out) {
    tell(invocation.err, "left out: " + file);
  }
  Outputs outputs;
  outputs.attempt([&] {
    write_report(options.out, contents.parts);
    tell_page(options.out, read_text(contents), options.csv == stdout_name, "open it in a browser",
              invocation);
  });
  outputs.write(invocation.out, options.csv, [&] { return csv_of(contents.lines); });
  outputs.finish(invocation.err);
  return exit_ok;
}

} // namespace

Action declare_report(OptionList& options) {
  const auto typed = std::make_shared<ReportOptions>();
  options.files("RESULT FILE", typed->results,
                "result files (--json) of any verb, class sheets of lessons, or "
                "folders of them");
  options.group("Output");
  options.output("-o,--out FILE.html", typed->out, kind_of_output::page, "where the page goes");
  options.output("--csv FILE|-", typed->csv, kind_of_output::csv,
                 "results of all files as CSV; - is stdout, which then has nothing else");
  return [typed](const Invocation& invocation) { return run_report(*typed, invocation); };
}

Action declare_live(OptionList& options) {
  const auto path = std::make_shared<std::string>("live.html");
  options.group("Output");
  options.output("-o,--out FILE.html", *path, kind_of_output::page, "where the page goes");
  return [path](const Invocation& invocation) { return run_live(*path, invocation); };
}

} // namespace diffbench::bench
