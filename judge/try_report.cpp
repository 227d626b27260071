// SPDX-License-Identifier: Apache-2.0
#include "try_report.hpp"

#include "columns.hpp"
#include "ratio.hpp"
#include "report_json.hpp"
#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace diffbench::bench {

namespace {

Value max_ulps(const Judgement& judgement) {
  return judgement.verdict == TryVerdict::contracted || judgement.verdict == TryVerdict::rounding
             ? Value(judgement.max_ulps)
             : Value();
}

Value wrong_json(const std::optional<WrongCells>& wrong) {
  if (!wrong) {
    return {};
  }
  return {{"nx", wrong->nx},
          {"ny", wrong->ny},
          {"steps", wrong->steps},
          {"cells", wrong->difference.cells},
          {"x", wrong->difference.x},
          {"y", wrong->difference.y},
          {"place", to_string(wrong->difference.place)},
          {"expected", wrong->expected},
          {"found", wrong->found},
          {"nonfinite", wrong->difference.nonfinite},
          {"unwritten", wrong->unwritten},
          {"map", wrong->map}};
}

constexpr Column<Judgement> judgement_columns[] = {
    {"dtype", "dtype", as_text, field<&Judgement::dtype>},
    {"verdict", "verdict", as_text, field<&Judgement::verdict>},
    {"max_ulps", "largest error (ulp)", as_text, max_ulps},
    {"runs", "runs", as_text, field<&Judgement::runs>},
    {"boundaries", nullptr, as_text,
     [](const Judgement& j) {
       return Value::each(j.boundaries, [](Boundary boundary) { return to_string(boundary); });
     }},
    {"schedules", nullptr, as_text, field<&Judgement::schedules>},
    {"right", nullptr, as_text, [](const Judgement& j) { return Value(is_right(j.verdict)); }},
    {"failed", nullptr, as_text, field<&Judgement::failed>},
    {"arithmetic", "it computes", as_text, field<&Judgement::arithmetic, or_null>},
    {"mistake.id", nullptr, as_text, field<&Judgement::mistake_id, or_null>},
    {"mistake.text", nullptr, as_text, field<&Judgement::mistake, or_null>},
    {"mistake.advice", nullptr, as_text, field<&Judgement::advice, or_null>},
    {"complaints", nullptr, as_text, field<&Judgement::complaints>},
    {"wrong", nullptr, as_text, field<&Judgement::wrong, wrong_json>},
    {"unprotected", nullptr, as_text, field<&Judgement::unprotected, or_null>},
    {"findings", nullptr, as_text, field<&Judgement::findings, findings_json>},
    {"counts", nullptr, as_text, field<&Judgement::counts>},
    {"costs", nullptr, as_text, field<&Judgement::costs, costs_json>},
};

/// Two cells that differ have different texts.
std::string cell_text(double cell, Dtype dtype) {
  return cell != cell              ? "not a number"
         : dtype == Dtype::float32 ? fmt::format("{}", static_cast<float>(cell))
                                   : fmt::format("{}", cell);
}

/// Below the table: why a dtype is wrong.
std::string explanation(const Judgement& judgement) {
  std::string text = fmt::format("\n{}: {}\n", to_string(judgement.dtype), verdict_line(judgement));
  if (judgement.wrong) {
    const WrongCells& wrong = *judgement.wrong;
    text += fmt::format(
        "  {} x {} cells, {}: {} of {} cells are wrong, {}{}\n", wrong.nx, wrong.ny,
        counted(wrong.steps, "step"), wrong.difference.cells, wrong.nx * wrong.ny,
        to_string(wrong.difference.place),
        wrong.unwritten == 0 ? "" : fmt::format("; {} were never written", wrong.unwritten));
    text += fmt::format("  first at x={} y={}: expected {}, found {}\n", wrong.difference.x,
                        wrong.difference.y, cell_text(wrong.expected, judgement.dtype),
                        cell_text(wrong.found, judgement.dtype));
    std::string map = wrong.map;
    for (std::size_t at = 0; (at = map.find('\n', at)) != std::string::npos && at + 1 < map.size();
         at += 5) {
      map.replace(at, 1, "\n    ");
    }
    text += "    " + map;
  }
  if (!judgement.advice.empty()) {
    text += fmt::format("  look at this: {}\n", judgement.advice);
  }
  return text;
}

/// One of the rows beside, in words.
std::string beside(const ComparisonResult& timing, const Row& own, const Row& other) {
  const Ratio ratio = ratio_in_run(own.samples, other.samples);
  switch (judge(ratio, timing.least_effect)) {
    case Verdict::slower: return fmt::format("{:.3g} times as long as {}", ratio.value, other.name);
    case Verdict::faster:
      return fmt::format("{} takes {:.3g} times as long", other.name, 1 / ratio.value);
    case Verdict::same:
    case Verdict::unclear: return fmt::format("about as long as {}", other.name);
  }
  return {};
}

void add_timing(LabReport& report, const Trial& trial) {
  const ComparisonResult& timing = *trial.timing;
  append_table(report,
               "\n" + format_title(timing) + format_figures(timing) + format_troubles(timing));
  const Row& own = timing.rows.front();
  if (own.ranked()) {
    std::vector<std::string> others;
    for (const char* name : {"peer:numpy", "xtensor", "fused", "simd"}) {
      const Row* row = timing.find(name);
      if (row != nullptr && row->ranked()) {
        others.push_back(beside(timing, own, *row));
      }
    }
    report.sentence = fmt::format("A step of {} takes {}: {}.", own.name,
                                  format_pace(own.step_seconds()), fmt::join(others, "; "));
  }
  Value rows = Value::list();
  for (const Row& row : timing.rows) {
    rows.push_back(row_json(timing, row));
    if (row.timed()) {
      report.series.push_back(sample_series(timing.problem, row, "try"));
    }
  }
  if (own.failed() && !timing.interrupted) {
    report.done.clear();
    report.outcome = {
        trial.timing_undecided ? exit_error : exit_not_verified,
        fmt::format("{}: {} where it is timed: {}", trial.file,
                    to_string(trial.timing_undecided ? TryVerdict::undecided : TryVerdict::wrong),
                    own.reason)};
  }
  std::ranges::move(row_pictures(timing, "timing.rows"), std::back_inserter(report.pictures));
  report.data["timing"] = {{"problem", problem_json(timing)}, {"rows", rows}};
  std::ranges::copy(timing.notes, std::back_inserter(report.notes));
  report.interrupted = timing.interrupted;
}

} // namespace

std::string verdict_line(const Judgement& judgement) {
  if (!judgement.complaints.empty()) {
    return fmt::format("{}: {}", to_string(judgement.verdict), judgement.complaints.front());
  }
  if (!judgement.mistake.empty()) {
    return fmt::format("{}: {}", to_string(judgement.verdict), judgement.mistake);
  }
  if (!is_right(judgement.verdict)) {
    return fmt::format("{}, and no mistake that is known gives these cells",
                       to_string(judgement.verdict));
  }
  return judgement.verdict == TryVerdict::same_bits || judgement.arithmetic.empty()
             ? std::string(to_string(judgement.verdict))
             : fmt::format("{}: it computes {}", to_string(judgement.verdict),
                           judgement.arithmetic);
}

namespace {

/// What is wrong first, then what a step asks for.
void add_pictures(LabReport& report, const Trial& trial) {
  const auto wrong = std::ranges::find_if(
      trial.judgements, [](const Judgement& one) { return one.wrong.has_value(); });
  if (wrong != trial.judgements.end()) {
    report.pictures.push_back(
        {fmt::format("{}, {}: the cells that are wrong", trial.file, verdict_line(*wrong)),
         Figure::map, "dtype", "wrong.map"});
  }
  if (std::ranges::any_of(trial.judgements,
                          [](const Judgement& one) { return !one.findings.empty(); })) {
    report.pictures.push_back({.title = "Findings, at their lines",
                               .figure = Figure::table,
                               .x = "where",
                               .y = "kind",
                               .rows = "results.findings"});
  }
  if (trial.judgements.front().costs) {
    report.pictures.push_back({"What a step asks the GPU for", Figure::bars, "dtype",
                               "costs.copies costs.allocations costs.launches costs.waits"});
  }
}

} // namespace

LabReport try_report(const Trial& trial) {
  const Submission& submission = trial.submission;
  LabReport report;
  report.text = fmt::format(
      "{}: {}, form {}{}\n", trial.file, to_string(submission.language), to_string(submission.form),
      submission.compiled.command.empty() ? "" : "; " + submission.compiled.command);
  append_table(report, format_rows(judgement_columns, trial.judgements));
  const Judgement* worst = nullptr;
  for (const Judgement& judgement : trial.judgements) {
    if (!is_right(judgement.verdict)) {
      append_table(report, explanation(judgement));
      worst = worst == nullptr || (judgement.failed && !worst->failed) ? &judgement : worst;
    }
  }
  for (const Judgement& judgement : trial.judgements) {
    if (!judgement.findings.empty()) {
      append_table(report,
                   fmt::format("\n{}, on an emulated device:\n{}", to_string(judgement.dtype),
                               format_findings(judgement.findings)));
    }
  }
  report.done = worst == nullptr ? fmt::format("{} is right.", trial.file) : "";
  if (worst != nullptr) {
    report.outcome = {worst->failed ? exit_error : exit_not_verified,
                      fmt::format("{}: {}", trial.file, verdict_line(*worst))};
  }
  if (const auto& costs = trial.judgements.front().costs) {
    std::ranges::move(cost_notes(*costs), std::back_inserter(report.notes));
  }
  if (submission.language == Language::cuda) {
    report.notes.emplace_back("the GPU was emulated, so nothing is timed");
  }
  std::vector<Form> others = submission.other_forms;
  if (!others.empty()) {
    report.notes.push_back(fmt::format("the file has the form {}, too; --form {} takes it",
                                       to_string(others.front()), to_string(others.front())));
  }
  const std::string& unprotected = trial.judgements.front().unprotected;
  if (!unprotected.empty()) {
    report.notes.push_back(fmt::format("not kept from everything: {}", unprotected));
  }
  report.data = {{"file", trial.file},
                 {"language", to_string(submission.language)},
                 {"form", to_string(submission.form)},
                 {"other_forms", Value::each(others, [](Form form) { return to_string(form); })},
                 {"command", or_null(submission.compiled.command)},
                 {"results", list_of(judgement_columns, trial.judgements)}};
  report.columns = heads_of(judgement_columns, row_heads());
  add_pictures(report, trial);
  if (trial.timing) {
    add_timing(report, trial);
  }
  if (trial.asked) {
    append_asked(report, *trial.asked);
  }
  return report;
}

} // namespace diffbench::bench
