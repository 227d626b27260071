// SPDX-License-Identifier: Apache-2.0
#include "file_comparison.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "diffbench/known_names.hpp"
#include "report_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

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

/// The name of a host alone is no sign: that of a container is another each time. A clock may go
/// faster on one machine, too, so it counts only beside another name.
std::string signs_of_two_machines(const Facts& old_facts, const Facts& new_facts) {
  std::vector<std::string_view> names{"cpu_model", "num_cpus", "usable_cpus", "gpu_name"};
  if (fact(old_facts, "host_name") != fact(new_facts, "host_name")) {
    names.emplace_back("mhz_per_cpu");
  }
  const auto known = [](std::string_view value) {
    return !value.empty() && value != "unknown" && value != "none";
  };
  std::vector<std::string> signs;
  for (const std::string_view name : names) {
    const std::string_view old_value = fact(old_facts, name);
    const std::string_view new_value = fact(new_facts, name);
    if (old_value != new_value && known(old_value) && known(new_value)) {
      signs.push_back(fmt::format("{} {} and {}", name, old_value, new_value));
    }
  }
  return fmt::format("{}", fmt::join(signs, ", "));
}

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
     field<&ComparedRow::result, &Standing::ratio, &Ratio::value>},
    {"interval", "99 % interval",
     [](const Value& interval) {
       return fmt::format("{:.3f} to {:.3f}", interval.find("low").number(),
                          interval.find("high").number());
     },
     field<&ComparedRow::result, &Standing::ratio, &Ratio::interval, interval_json>},
    {"smallest_visible", nullptr, as_text,
     [](const ComparedRow& row) { return row.result ? Value(row.visible) : Value(); }},
    {"verdict", "verdict", as_text, field<&ComparedRow::result, &Standing::verdict>},
};

/// "12 %"; "none" where no slowdown would have.
std::string visible_text(double slowdown) {
  return std::isfinite(slowdown) ? fmt::format("{:.2g} %", 100 * slowdown) : "none";
}

std::string differences_text(std::vector<Difference> problem,
                             const std::vector<Difference>& machine) {
  problem.insert(problem.end(), machine.begin(), machine.end());
  return problem.empty() ? "" : format_rows(difference_columns, problem) + "\n";
}

std::string rows_text(const std::vector<ComparedRow>& rows) {
  std::vector<ComparedRow> compared;
  std::map<std::string, std::vector<std::string>> others; // by the reason
  for (const ComparedRow& row : rows) {
    if (row.result) {
      compared.push_back(row);
    } else {
      others[row.reason].push_back(row.name);
    }
  }
  std::string text = format_rows(compared_columns, compared);
  for (const auto& [reason, names] : others) {
    text += fmt::format("not compared: {}: {}\n", fmt::join(names, ", "), reason);
  }
  return text;
}

} // namespace

FileComparison::FileComparison(const RecordedRun& old_run, const RecordedRun& new_run,
                               double run_spread, double least_effect)
    : least_effect_(least_effect),
      other_machine_(signs_of_two_machines(old_run.machine, new_run.machine)) {
  disturbed_ = old_run.disturbed || new_run.disturbed;
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

void FileComparison::add(const RecordedRow& old_row, const RecordedRow* new_row) {
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

void FileComparison::judge_rows(double run_spread) {
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
  const std::vector<Ratio> ratios = run_ratios(pairs, run_spread);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    owners[i]->result =
        standing_of(ratios[i], {.margin = least_effect_, .alpha = 1 - ratio_confidence});
    owners[i]->visible = smallest_visible(ratios[i], least_effect_);
    if (!concludes(evidence(disturbed_))) {
      owners[i]->result->verdict = Verdict::unclear;
    }
  }
}

bool FileComparison::any_compared() const {
  return std::ranges::any_of(rows_, [](const ComparedRow& row) { return row.result.has_value(); });
}

std::vector<std::string> FileComparison::names_of(Verdict verdict) const {
  return names_in(
      rows_, [&](const ComparedRow& row) { return row.result && row.result->verdict == verdict; });
}

std::vector<std::string> FileComparison::slower_by(double limit) const {
  return names_in(rows_, [&](const ComparedRow& row) {
    return row.result && row.result->verdict == Verdict::slower &&
           row.result->ratio.value > 1 + limit;
  });
}

std::vector<std::string> FileComparison::unable_to_see(double limit) const {
  std::vector<std::string> names;
  for (const ComparedRow& row : rows_) {
    if (row.result && !(row.visible <= limit && concludes(evidence(disturbed_)))) {
      names.push_back(fmt::format("{} ({})", row.name, visible_text(row.visible)));
    }
  }
  return names;
}

std::string FileComparison::visible_note() const {
  std::vector<std::string> each;
  for (const ComparedRow& row : rows_) {
    if (row.result) {
      each.push_back(fmt::format("{} {}", row.name, visible_text(row.visible)));
    }
  }
  return each.empty() ? ""
                      : fmt::format("the smallest slowdown that would have got a verdict: {}",
                                    fmt::join(each, ", "));
}

/// What keeps verdicts from being given, or from meaning what they seem to.
std::vector<std::string> FileComparison::notes() const {
  constexpr double undisturbed = 0.9;
  const auto few = names_in(
      rows_, [](const ComparedRow& row) { return row.result && !row.result->ratio.interval; });
  const auto disturbed = names_in(rows_, [](const ComparedRow& row) {
    return row.result && row.result->ratio.interval &&
           std::min(row.old_row->cpu_share, row.new_row->cpu_share) < undisturbed;
  });
  std::vector<std::string> notes;
  if (const std::string visible = visible_note(); !visible.empty() && !disturbed_) {
    notes.push_back(visible);
  }
  if (least_effect_ > least_effect_in_run) {
    notes.push_back(fmt::format(
        "identical code got verdicts in the selftest of this machine, so a difference counts from "
        "{:.2g} % on",
        100 * least_effect_));
  }
  if (!machine_.empty()) {
    notes.push_back(
        fmt::format("the runs differ in {} thing{} (see above), which may explain a ratio",
                    machine_.size(), machine_.size() == 1 ? "" : "s"));
  }
  if (disturbed_) {
    notes.emplace_back(
        "other programs were running while at least one of the files was measured, so no row has a "
        "verdict: measure again when they are done");
  } else if (!disturbed.empty()) {
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

std::string FileComparison::sentence() const {
  std::vector<std::string> parts;
  for (const Verdict verdict :
       {Verdict::slower, Verdict::faster, Verdict::same, Verdict::unclear}) {
    if (const auto names = names_of(verdict); !names.empty()) {
      parts.push_back(fmt::format("{}: {}", to_string(verdict), fmt::join(names, ", ")));
    }
  }
  return parts.empty() ? "Nothing could be compared."
                       : fmt::format(
                             "{}. A row gets a verdict where its interval leaves no doubt; the "
                             "interval allows for the differences between two runs of one "
                             "program.",
                             fmt::join(parts, "; "));
}

LabReport FileComparison::report(const std::string& old_name, const std::string& new_name) const {
  LabReport report;
  report.text = fmt::format("{} (old) against {} (new)\n\n", old_name, new_name) +
                differences_text(problem_, machine_) + rows_text(rows_);
  report.disturbed = disturbed_;
  report.sentence = concluded(evidence(disturbed_), sentence());
  report.notes = notes();
  report.rows = list_of(compared_columns, rows_);
  report.columns = heads_of(difference_columns, heads_of(compared_columns));
  report.pictures = {
      {"New time over old", Figure::bars, "row", "ratio", "verdict", "", "rows", "interval"},
      {"What else differs", Figure::table, "what", "", "", "", "differences"}};
  report.data = {{"old", old_name},
                 {"new", new_name},
                 {"problem_differences", list_of(difference_columns, problem_)},
                 {"differences", list_of(difference_columns, machine_)},
                 {"rows", *report.rows}};
  return report;
}

} // namespace diffbench::bench
