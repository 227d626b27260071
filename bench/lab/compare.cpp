#include "compare.hpp"

#include "diffbench/errors.hpp"
#include "lab_report.hpp"
#include "option_values.hpp"
#include "recorded_run.hpp"
#include "run_ratio.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

struct CompareOptions {
  std::string old_file, new_file;
  std::string fail_on, run_spread;
  LabOutput output;

  void declare(CLI::App& app) {
    declare_value(app, "OLD", old_file, "FILE", "result file of diffbench or Google Benchmark");
    declare_value(app, "NEW", new_file, "FILE", "the same of the run to be judged");
    begin_group(app, "Verdict");
    declare_value(app, "--fail-on", fail_on, "slower=X%",
                  "exit code 5 when a row is SLOWER, and by more than that");
    declare_value(app, "--run-spread", run_spread, "X%",
                  "how far runs of the same program lie apart (default 2%)");
    output.declare(app);
  }
};

std::optional<double> parse_fail_on(const std::string& text) {
  constexpr std::string_view kind = "slower=";
  if (text.empty()) {
    return std::nullopt;
  }
  try {
    if (text.starts_with(kind)) {
      return parse_percent("--fail-on", text.substr(kind.size()));
    }
  } catch (const InvalidInput&) { // its words would leave "slower=" out
  }
  throw InvalidInput(fmt::format(
      "--fail-on {}: give slower=X% with X above 0, up to 1000, such as slower=5%", text));
}

/// A recorded run cannot be had again.
void refuse_to_overwrite(std::string_view option, const std::string& output,
                         const CompareOptions& options) {
  for (const std::string& input : {options.old_file, options.new_file}) {
    std::error_code ignored; // one that is not there is not the other
    if (std::filesystem::equivalent(output, input, ignored)) {
      throw InvalidInput(
          fmt::format("{} {}: is a file to compare; give another name", option, output));
    }
  }
}

struct Difference {
  std::string what, old_value, new_value;
};

/// Facts that are in both and differ.
void add_differences(std::vector<Difference>& differences, const std::string& prefix,
                     const Facts& old_facts, const Facts& new_facts) {
  for (const auto& old_fact : old_facts) {
    const auto same = std::find_if(new_facts.begin(), new_facts.end(),
                                   [&](const auto& fact) { return fact.first == old_fact.first; });
    if (same != new_facts.end() && same->second != old_fact.second) {
      differences.push_back({prefix + old_fact.first, old_fact.second, same->second});
    }
  }
}

/// A row that is in both runs, or a reason why it is not compared.
struct ComparedRow {
  std::string name;
  std::string reason = {};
  const RecordedRow* old_row = nullptr;
  const RecordedRow* new_row = nullptr;
  std::optional<RunRatio> result = {};
};

class FileComparison {
 public:
  FileComparison(const RecordedRun& old_run, const RecordedRun& new_run, double run_spread) {
    add_differences(machine_, "", old_run.machine, new_run.machine);
    add_differences(problem_, "", old_run.problem, new_run.problem);
    // More steps are no other problem for the time of one; they are worth a mention.
    const auto steps = std::find_if(problem_.begin(), problem_.end(), [](const Difference& each) {
      return each.what == "iterations";
    });
    if (steps != problem_.end()) {
      machine_.push_back(*steps);
      problem_.erase(steps);
    }
    for (const RecordedRow& row : old_run.rows) {
      add(row, new_run.find(row.name));
    }
    for (const RecordedRow& row : new_run.rows) {
      if (old_run.find(row.name) == nullptr) {
        rows_.push_back({.name = row.name, .reason = "only in the new run"});
      }
    }
    judge_rows(run_spread);
  }

  [[nodiscard]] const std::vector<ComparedRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<Difference>& machine() const { return machine_; }
  [[nodiscard]] const std::vector<Difference>& problem() const { return problem_; }

  [[nodiscard]] bool any_compared() const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [](const ComparedRow& row) { return row.result.has_value(); });
  }

  [[nodiscard]] std::vector<std::string> names_of(Verdict verdict) const {
    return names_if([&](const RunRatio& result) { return result.verdict == verdict; });
  }

  [[nodiscard]] std::vector<std::string> slower_by(double limit) const {
    return names_if([&](const RunRatio& result) {
      return result.verdict == Verdict::slower && result.ratio.value > 1 + limit;
    });
  }

 private:
  void add(const RecordedRow& old_row, const RecordedRow* new_row) {
    ComparedRow row{.name = old_row.name, .old_row = &old_row, .new_row = new_row};
    if (new_row == nullptr) {
      row.reason = "only in the old run";
    } else if (!problem_.empty()) {
      row.reason = "another problem: " + problem_.front().what;
    } else if (old_row.seconds.empty()) {
      row.reason = "no time in the old run: " + old_row.trouble;
    } else if (new_row->seconds.empty()) {
      row.reason = "no time in the new run: " + new_row->trouble;
    }
    if (row.reason.empty()) {
      add_differences(machine_, row.name + " ", old_row.provenance, new_row->provenance);
    }
    rows_.push_back(std::move(row));
  }

  void judge_rows(double run_spread) {
    std::vector<RowInTwoRuns> pairs;
    std::vector<ComparedRow*> owners;
    for (ComparedRow& row : rows_) {
      if (row.reason.empty()) {
        owners.push_back(&row);
        pairs.push_back({.old_seconds = row.old_row->seconds,
                         .new_seconds = row.new_row->seconds,
                         .cpu_share = std::min(row.old_row->cpu_share, row.new_row->cpu_share)});
      }
    }
    const std::vector<RunRatio> ratios = run_ratios(pairs, run_spread);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      owners[i]->result = ratios[i];
    }
  }

  template <typename Accepts>
  [[nodiscard]] std::vector<std::string> names_if(Accepts accepts) const {
    std::vector<std::string> names;
    for (const ComparedRow& row : rows_) {
      if (row.result && accepts(*row.result)) {
        names.push_back(row.name);
      }
    }
    return names;
  }

  std::vector<Difference> machine_;
  std::vector<Difference> problem_;
  std::vector<ComparedRow> rows_;
};

std::string differences_text(const FileComparison& comparison) {
  TextTable table({"differs", "old", "new"});
  for (const auto* differences : {&comparison.problem(), &comparison.machine()}) {
    for (const Difference& difference : *differences) {
      table.add({difference.what, difference.old_value, difference.new_value});
    }
  }
  const bool none = comparison.problem().empty() && comparison.machine().empty();
  return none ? "" : table.format() + "\n";
}

std::string rows_text(const FileComparison& comparison) {
  TextTable table({"row", "old", "new", "new / old", "99 % interval", "verdict"});
  std::string others;
  for (const ComparedRow& row : comparison.rows()) {
    if (!row.result) {
      others += fmt::format("not compared: {}: {}\n", row.name, row.reason);
      continue;
    }
    const Ratio& ratio = row.result->ratio;
    table.add(
        {row.name, format_seconds(quartiles(row.old_row->seconds).median),
         format_seconds(quartiles(row.new_row->seconds).median), fmt::format("{:.3f}", ratio.value),
         ratio.interval ? fmt::format("{:.3f} to {:.3f}", ratio.interval->low, ratio.interval->high)
                        : "-",
         std::string(to_string(row.result->verdict))});
  }
  return (comparison.any_compared() ? table.format() : "") + others;
}

/// What keeps verdicts from being given, or from meaning what they seem to.
std::vector<std::string> notes_of(const FileComparison& comparison) {
  constexpr double undisturbed = 0.9;
  std::vector<std::string> few;
  std::vector<std::string> disturbed;
  for (const ComparedRow& row : comparison.rows()) {
    if (row.result && !row.result->ratio.interval) {
      few.push_back(row.name);
    } else if (row.result &&
               std::min(row.old_row->cpu_share, row.new_row->cpu_share) < undisturbed) {
      disturbed.push_back(row.name);
    }
  }
  std::vector<std::string> notes;
  if (!comparison.machine().empty()) {
    notes.push_back(
        fmt::format("the runs differ in {} thing{} (see above): a ratio may come from "
                    "any of them",
                    comparison.machine().size(), comparison.machine().size() == 1 ? "" : "s"));
  }
  if (!disturbed.empty()) {
    notes.push_back(
        fmt::format("other programs took CPU time from {}: measure again on a quiet "
                    "machine for a closer interval",
                    fmt::join(disturbed, ", ")));
  }
  if (!few.empty()) {
    notes.push_back(fmt::format("fewer than 3 samples a run of {} show no spread: repeat them",
                                fmt::join(few, ", ")));
  }
  return notes;
}

std::string sentence_of(const FileComparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::unclear}) {
    if (const auto names = comparison.names_of(verdict); !names.empty()) {
      parts.push_back(fmt::format("{}: {}", to_string(verdict), fmt::join(names, ", ")));
    }
  }
  return parts.empty() ? "Nothing could be compared."
                       : fmt::format(
                             "{}. A verdict is given where the interval, which allows for "
                             "what two runs of one program differ by, leaves no doubt.",
                             fmt::join(parts, "; "));
}

ordered_json differences_json(const std::vector<Difference>& differences) {
  ordered_json json = ordered_json::array();
  for (const Difference& difference : differences) {
    json.push_back(
        {{"what", difference.what}, {"old", difference.old_value}, {"new", difference.new_value}});
  }
  return json;
}

ordered_json row_json(const ComparedRow& row) {
  ordered_json json{
      {"row", row.name},
      {"reason", row.reason.empty() ? ordered_json(nullptr) : ordered_json(row.reason)}};
  const RunRatio* result = row.result ? &*row.result : nullptr;
  auto figure = [&](double value) { return result ? number(value) : ordered_json(nullptr); };
  json["verdict"] = result ? ordered_json(to_string(result->verdict)) : ordered_json(nullptr);
  json["ratio"] = figure(result ? result->ratio.value : 0);
  json["interval"] = nullptr;
  if (result && result->ratio.interval) {
    json["interval"] = {{"low", number(result->ratio.interval->low)},
                        {"high", number(result->ratio.interval->high)},
                        {"confidence", number(result->ratio.interval->confidence)}};
  }
  json["old_seconds"] = figure(result ? quartiles(row.old_row->seconds).median : 0);
  json["new_seconds"] = figure(result ? quartiles(row.new_row->seconds).median : 0);
  return json;
}

LabReport report_of(const CompareOptions& options, const FileComparison& comparison,
                    std::optional<double> fail_on) {
  LabReport report;
  report.text = fmt::format("{} (old) against {} (new)\n\n", options.old_file, options.new_file) +
                differences_text(comparison) + rows_text(comparison);
  report.sentence = sentence_of(comparison);
  report.notes = notes_of(comparison);
  ordered_json rows = ordered_json::array();
  for (const ComparedRow& row : comparison.rows()) {
    rows.push_back(row_json(row));
  }
  report.data = {{"old", options.old_file},
                 {"new", options.new_file},
                 {"problem_differences", differences_json(comparison.problem())},
                 {"differences", differences_json(comparison.machine())},
                 {"rows", std::move(rows)}};
  if (!comparison.any_compared()) {
    report.outcome = {.exit_code = exit_error,
                      .complaint = "no row of the two files can be compared, see the reasons"};
  } else if (fail_on) {
    if (const auto slower = comparison.slower_by(*fail_on); !slower.empty()) {
      report.outcome = {.exit_code = exit_regression,
                        .complaint = fmt::format("slower by more than {:g} %: {}", 100 * *fail_on,
                                                 fmt::join(slower, ", "))};
    }
  }
  return report;
}

int run_compare(const CompareOptions& options, const Invocation& invocation) {
  if (options.new_file.empty()) {
    throw InvalidInput("compare: give two result files: diffbench compare OLD.json NEW.json");
  }
  const std::optional<double> fail_on = parse_fail_on(options.fail_on);
  const double run_spread = options.run_spread.empty()
                                ? default_run_spread
                                : parse_percent("--run-spread", options.run_spread);
  refuse_to_overwrite("--json", options.output.json, options);
  refuse_to_overwrite("--report", options.output.report, options);
  return run_experiment("compare", options.output, invocation, [&](Progress&) {
    const RecordedRun old_run = read_recorded_run(options.old_file);
    const RecordedRun new_run = read_recorded_run(options.new_file);
    return report_of(options, FileComparison(old_run, new_run, run_spread), fail_on);
  });
}

} // namespace

Action declare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  options->declare(app);
  return [options](const Invocation& invocation) { return run_compare(*options, invocation); };
}

} // namespace diffbench::bench
