// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include "columns.hpp"
#include "compare/run_pairs.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "field_frames.hpp"
#include "json.hpp"
#include "lab_report.hpp"
#include "lesson/class_sheets.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "page.hpp"
#include "recorded_run.hpp"
#include "report_file.hpp"
#include "result_lines.hpp"
#include "result_reader.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
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
  std::string snapshots, out = "report.html", csv;
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

/// Of a file in the page, what is needed beside it.
struct Shown {
  std::string path, name, kind;
  bool has_samples = true; ///< as class sheets have not
};

/// What is measured, and the question where an experiment has several: "cluster strong".
std::string kind_of(const nlohmann::ordered_json& own) {
  std::string kind = experiment_of(own);
  for (const char* name : {"question", "mode"}) {
    if (const auto& which = member(results_of(own), name); which.is_string()) {
      kind += " " + which.get<std::string>();
    }
  }
  return kind;
}

struct Contents {
  std::vector<Shown> shown;
  std::vector<std::string> parts; ///< of the page, in the order of `shown`
  Value lines = Value::list();    ///< of --csv
  std::vector<std::string> left_out;
  std::int64_t files = 0, sheets = 0; ///< that were read

  void add(const std::string& path, const nlohmann::ordered_json& result, bool with_lines,
           bool has_samples = true) {
    const nlohmann::ordered_json& own = member(result, "diffbench");
    if (own.is_null()) { // of several files, as of *.json, those of Google Benchmark are left out
      left_out.push_back(path + ": another program wrote it");
      return;
    }
    if (results_of(own).empty()) { // a run that measured nothing has nothing to draw
      throw InvalidInput(fmt::format("{}: has no results to draw", path));
    }
    shown.push_back({path, fs::path(path).filename().string(), kind_of(own), has_samples});
    parts.push_back(report_part(shown.back().name, result));
    if (with_lines) {
      add_result_lines(path, own, lines);
    }
  }
};

/// Those of a class together: a part for each lesson.
void add_sheets(const std::vector<fs::path>& paths, bool with_lines, Contents& contents) {
  ClassSheets sheets = read_class_sheets(paths);
  for (std::size_t i = 0; i < sheets.results.size(); ++i) {
    contents.add(sheets.names[i], sheets.results[i], with_lines, false);
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
  contents.files = static_cast<std::int64_t>(contents.shown.size());
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

/// With nothing beside the lines where they go to stdout.
void tell_page(const ReportOptions& options, const Contents& contents,
               const Invocation& invocation) {
  std::vector<std::string> read;
  for (const auto& [files, what] :
       {std::pair(contents.files, "result file"), std::pair(contents.sheets, "class sheet")}) {
    if (files > 0) {
      read.push_back(counted(files, what));
    }
  }
  std::error_code no_file; // of a pipe or a device, whose reader has the page
  const auto bytes = static_cast<double>(fs::file_size(options.out, no_file));
  write_text(options.csv == stdout_name || no_file ? invocation.err : invocation.out,
             fmt::format("{}: {}{}; open it in a browser\n", options.out, fmt::join(read, " and "),
                         no_file ? "" : fmt::format(", {:.1f} MB", bytes / 1e6)));
}

/// What `compare` says of files that came after one another, each as an element of the page.
std::vector<std::string> pair_parts(const std::vector<Shown>& shown) {
  std::map<std::string, std::vector<std::size_t>> of_kind;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i].has_samples) {
      of_kind[shown[i].kind].push_back(i);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kind, places] : of_kind) {
    std::vector<NamedRun> runs;
    for (const std::size_t place : places) {
      if (places.size() > 1) { // read again, with all samples
        runs.push_back(
            {shown[place].name, recorded_run(read_result_file(shown[place].path, Origin::ours))});
      }
    }
    for (const RunPair& pair : pairs_in_time(runs)) {
      const Shown& old_file = shown[places[pair.old_run]];
      const Shown& new_file = shown[places[pair.new_run]];
      const bool alike = old_file.name == new_file.name;
      const std::string command =
          fmt::format("diffbench compare {} {}", alike ? old_file.path : old_file.name,
                      alike ? new_file.path : new_file.name);
      parts.push_back(data_element(
          "pair", {{"old", places[pair.old_run]},
                   {"new", places[pair.new_run]},
                   {"same_machine", pair.same_machine},
                   {"diffbench", json_of(lab_part("compare", command, pair.report))}}));
    }
  }
  return parts;
}

int run_report(const ReportOptions& options, const Invocation& invocation) {
  const std::vector<Input> inputs = inputs_at(options.results);
  check_before_work(options, inputs);
  Contents contents = read_inputs(inputs, !options.csv.empty());
  for (const std::string& file : contents.left_out) {
    tell(invocation.err, "left out: " + file);
  }
  std::vector<std::string>& parts = contents.parts;
  std::ranges::move(pair_parts(contents.shown), std::back_inserter(parts));
  if (!options.snapshots.empty()) {
    parts.push_back(field_part(options.snapshots));
  }
  Outputs outputs;
  outputs.attempt([&] {
    write_report(options.out, parts);
    tell_page(options, contents, invocation);
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
  options.text("--snapshots DIR", typed->snapshots,
               "folder of --snapshot-every; its .npy files become a film of the field");
  options.output("-o,--out FILE.html", typed->out, kind_of_output::page, "where the page goes");
  options.output("--csv FILE|-", typed->csv, kind_of_output::csv,
                 "results of all files as CSV; - is stdout, which then has nothing else");
  return [typed](const Invocation& invocation) { return run_report(*typed, invocation); };
}

} // namespace diffbench::bench
