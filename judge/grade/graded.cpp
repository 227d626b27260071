// SPDX-License-Identifier: Apache-2.0
#include "graded.hpp"

#include "columns.hpp"
#include "report_json.hpp"
#include "try_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::string_view best_row = "best";
constexpr std::string_view own_rows[] = {"xtensor", "fused", "simd"};

Value paces_json(const std::vector<RowPace>& paces) {
  return Value::each(paces, [](const RowPace& pace) -> Value {
    return {{"row", pace.row},
            {"times", pace.times.value},
            {"interval", interval_json(pace.times.interval)}};
  });
}

constexpr Column<Graded> fact_columns[] = {
    {"name", nullptr, as_text, field<&Graded::name>},
    {"fate", nullptr, as_text, field<&Graded::fate>},
    {"language", nullptr, as_text,
     [](const Graded& graded) -> Value {
       return graded.language ? Value(to_string(*graded.language)) : Value();
     }},
    {"form", nullptr, as_text, field<&Graded::form, or_null>},
    {"verdict", nullptr, as_text, field<&Graded::verdict, or_null>},
    {"right", nullptr, as_text, field<&Graded::right>},
    {"mistake", nullptr, as_text, field<&Graded::mistake, or_null>},
    {"reason", nullptr, as_text, field<&Graded::reason, or_null>},
    {"faults", nullptr, as_text, field<&Graded::faults>},
    {"races", nullptr, as_text, field<&Graded::races>},
    {"leaks", nullptr, as_text, field<&Graded::leaks>},
    {"stopwatch", nullptr, as_text, field<&Graded::stopwatch>},
    {"copies_per_step", nullptr, as_text, field<&Graded::copies>},
    {"launches", nullptr, as_text, field<&Graded::launches>},
    {"kernels_write", nullptr, as_text, field<&Graded::kernels_write>},
    {"resident", nullptr, as_text, field<&Graded::resident>},
    {"timed", nullptr, as_text, field<&Graded::timed>},
    {"paces", nullptr, as_text, field<&Graded::paces, paces_json>},
    {"disturbed", nullptr, as_text, field<&Graded::disturbed>},
    {"said", nullptr, as_text, field<&Graded::said>},
};

const Row* row_named(const ComparisonResult& timing, std::string_view name) {
  const Row* row = timing.find(name == "numpy" ? std::string_view("peer:numpy") : name);
  return row != nullptr && row->ranked() ? row : nullptr;
}

const Row* best_of(const ComparisonResult& timing) {
  const Row* best = nullptr;
  for (const std::string_view name : own_rows) {
    const Row* row = row_named(timing, name);
    if (row != nullptr && (best == nullptr || row->step_seconds() < best->step_seconds())) {
      best = row;
    }
  }
  return best;
}

std::vector<RowPace> paces_of(const ComparisonResult& timing) {
  std::vector<RowPace> paces;
  const Row& own = timing.rows.front();
  if (!own.ranked()) {
    return paces;
  }
  for (std::string& name : pace_rows()) {
    const Row* row = name == best_row ? best_of(timing) : row_named(timing, name);
    if (row != nullptr) {
      paces.push_back({.row = std::move(name), .times = ratio_in_run(row->samples, own.samples)});
    }
  }
  return paces;
}

/// So many more than are known of already: of the dtype that has most.
void take_findings(Graded& graded, const std::vector<DeviceFinding>& findings) {
  const auto take = [](std::optional<std::int64_t>& most, std::ptrdiff_t count) {
    most = std::max<std::int64_t>(most.value_or(0), count);
  };
  take(graded.faults, std::ranges::count_if(findings, is_fault));
  take(graded.races, std::ranges::count(findings, "race", &DeviceFinding::kind));
  take(graded.leaks, std::ranges::count(findings, "leak", &DeviceFinding::kind));
}

/// The first that is not right, one that failed before one that is wrong, and both before one that
/// is not decided; else the first.
const Judgement& worst_of(const Trial& trial) {
  const auto rank = [](const Judgement& judgement) {
    return judgement.verdict == TryVerdict::undecided ? 2
           : judgement.failed                         ? 0
           : is_right(judgement.verdict)              ? 3
                                                      : 1;
  };
  return *std::ranges::min_element(trial.judgements, {}, rank);
}

void take_costs(Graded& graded, const Trial& trial) {
  graded.resident = true;
  graded.kernels_write = std::numeric_limits<double>::max();
  for (const Judgement& judgement : trial.judgements) {
    const auto& costs = judgement.costs;
    graded.resident = graded.resident && costs && is_resident(*costs);
    graded.launches += launches_in(judgement.counts);
    graded.kernels_write = std::min(graded.kernels_write, costs ? costs->written : 0);
    if (costs) {
      graded.copies = std::max(graded.copies.value_or(0), costs->copies);
    }
  }
}

/// Without most of what a program prints that prints megabytes.
std::string clipped(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + "...";
}
constexpr std::size_t most_reason = 500, most_said = 100'000;

/// What `diffbench try` prints of it.
void take_said(Graded& graded, const LabReport& report) {
  graded.reason = clipped(graded.reason, most_reason);
  graded.said = report.text;
  for (const std::string& note : report.notes) {
    graded.said += "note: " + note + "\n";
  }
  graded.said = clipped(graded.said, most_said);
}

} // namespace

std::vector<std::string> pace_rows() {
  std::vector<std::string> rows = {"numpy"};
  rows.insert(rows.end(), std::begin(own_rows), std::end(own_rows));
  rows.emplace_back(best_row);
  return rows;
}

Graded graded_from(const std::string& name, const Trial& trial, bool disturbed) {
  Graded graded;
  graded.name = name;
  graded.fate = Graded::Fate::tried;
  graded.language = trial.submission.language;
  graded.form = to_string(trial.submission.form);
  const Judgement& worst = worst_of(trial);
  graded.verdict = to_string(worst.verdict);
  graded.right = is_right(worst.verdict);
  graded.mistake = worst.mistake_id;
  graded.reason = graded.right                ? ""
                  : !worst.complaints.empty() ? worst.complaints.front()
                  : !worst.mistake.empty()    ? worst.mistake
                                              : "no mistake that is known gives these cells";
  for (const Judgement& judgement : trial.judgements) {
    if (!judgement.counts.is_null()) {
      take_findings(graded, judgement.findings);
    }
  }
  if (graded.language == Language::cuda) {
    take_costs(graded, trial);
  }
  if (trial.timing) {
    graded.paces = paces_of(*trial.timing);
    graded.disturbed = disturbed;
    if (const Row& own = trial.timing->rows.front(); own.failed()) {
      graded.reason = own.reason;
      if (!trial.timing_undecided) {
        graded.right = false; // on the field that was timed
        graded.verdict = to_string(TryVerdict::wrong);
      }
    }
  }
  if (worst.verdict == TryVerdict::undecided || (graded.right && trial.timing_undecided)) {
    graded.fate = Graded::Fate::undecided;
    graded.verdict.clear();
    graded.right = false;
  }
  take_said(graded, try_report(trial));
  return graded;
}

Graded graded_from(const std::string& name, const ProgramTrial& trial) {
  Graded graded;
  graded.name = name;
  graded.fate = Graded::Fate::tried;
  graded.language = Language::cuda;
  graded.form = program_form;
  graded.right = trial.verdict == ProgramVerdict::no_fault;
  for (const LaunchedKernel& kernel : trial.kernels) {
    graded.launches += kernel.launches;
  }
  if (trial.verdict == ProgramVerdict::undecided) {
    graded.reason = trial.why;
    if (!trial.by_itself && trial.status == 0) { // its time ended it
      graded.fate = Graded::Fate::undecided;
    }
  } else {
    const auto is_stopwatch = [](const DeviceFinding& each) { return each.kind == "stopwatch"; };
    take_findings(graded, trial.findings);
    graded.stopwatch = std::ranges::count_if(trial.findings, is_stopwatch);
    if (!graded.right) {
      const DeviceFinding& worst = trial.findings.front();
      graded.reason = fmt::format("{} at {}", worst.kind, worst.where);
    }
  }
  if (graded.fate == Graded::Fate::tried) {
    graded.verdict = to_string(trial.verdict);
  }
  take_said(graded, program_report(trial));
  return graded;
}

Graded not_tried(const std::string& name, std::optional<Language> language, Graded::Fate fate,
                 const std::string& reason) {
  Graded graded;
  graded.name = name;
  graded.fate = fate;
  graded.language = language;
  graded.reason = clipped(reason, most_reason);
  graded.said = clipped(reason, most_said) + "\n";
  return graded;
}

std::optional<double> times_of(const Graded& graded, std::string_view row) {
  const auto found = std::ranges::find(graded.paces, row, &RowPace::row);
  return found == graded.paces.end() ? std::nullopt : std::optional(found->times.value);
}

Value graded_json(const Graded& graded) { return object_of(fact_columns, graded); }

} // namespace diffbench::bench
