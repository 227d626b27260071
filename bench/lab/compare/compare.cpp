#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "lab_report.hpp"
#include "lab_verbs.hpp"
#include "option_list.hpp"
#include "recorded_run.hpp"
#include "report_json.hpp"
#include "run_ratio.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

struct Difference {
  std::string what, old_value, new_value;
};

constexpr Column<Difference> difference_columns[] = {
    {"what", "differs", as_text, field<&Difference::what>},
    {"old", "old", as_text, field<&Difference::old_value>},
    {"new", "new", as_text, field<&Difference::new_value>},
};

/// Facts that are in both and differ.
void add_differences(std::vector<Difference>& differences, const std::string& prefix,
                     const Facts& old_facts, const Facts& new_facts) {
  for (const auto& old_fact : old_facts) {
    const auto same = std::ranges::find(new_facts, old_fact.first, &Facts::value_type::first);
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

template <auto row>
Value median_seconds(const ComparedRow& compared) {
  return compared.result ? Value(quartiles((compared.*row)->seconds).median) : Value();
}

constexpr Column<ComparedRow> compared_columns[] = {
    {"row", "row", as_text, field<&ComparedRow::name>},
    {"reason", nullptr, as_text, field<&ComparedRow::reason, or_null>},
    {"old_seconds", "old", as_seconds, median_seconds<&ComparedRow::old_row>},
    {"new_seconds", "new", as_seconds, median_seconds<&ComparedRow::new_row>},
    {"ratio", "new / old", as_thousandths,
     field<&ComparedRow::result, &RunRatio::ratio, &Ratio::value>},
    {"interval", "99 % interval",
     [](const Value& interval) {
       return fmt::format("{:.3f} to {:.3f}", interval.find("low").number(),
                          interval.find("high").number());
     },
     field<&ComparedRow::result, &RunRatio::ratio, &Ratio::interval, interval_json>},
    {"verdict", "verdict", as_text, field<&ComparedRow::result, &RunRatio::verdict>},
};

class FileComparison {
 public:
  FileComparison(const RecordedRun& old_run, const RecordedRun& new_run, double run_spread) {
    add_differences(machine_, "", old_run.machine, new_run.machine);
    add_differences(problem_, "", old_run.problem, new_run.problem);
    // More steps are no other problem for the time of one; they are worth a mention.
    const auto steps = std::ranges::find(problem_, "iterations", &Difference::what);
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
    return std::ranges::any_of(rows_,
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
  std::vector<Difference> all = comparison.problem();
  all.insert(all.end(), comparison.machine().begin(), comparison.machine().end());
  return all.empty() ? "" : format_rows(difference_columns, all) + "\n";
}

std::string rows_text(const FileComparison& comparison) {
  std::vector<ComparedRow> compared;
  std::string others;
  for (const ComparedRow& row : comparison.rows()) {
    if (row.result) {
      compared.push_back(row);
    } else {
      others += fmt::format("not compared: {}: {}\n", row.name, row.reason);
    }
  }
  return format_rows(compared_columns, compared) + others;
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

LabReport report_of(const CompareOptions& options, const FileComparison& comparison) {
  LabReport report;
  report.text = fmt::format("{} (old) against {} (new)\n\n", options.old_file, options.new_file) +
                differences_text(comparison) + rows_text(comparison);
  report.sentence = sentence_of(comparison);
  report.notes = notes_of(comparison);
  report.rows = list_of(compared_columns, comparison.rows());
  report.data = {{"old", options.old_file},
                 {"new", options.new_file},
                 {"problem_differences", list_of(difference_columns, comparison.problem())},
                 {"differences", list_of(difference_columns, comparison.machine())},
                 {"rows", *report.rows}};
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
