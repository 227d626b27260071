// SPDX-License-Identifier: Apache-2.0
// What `diffbench residency` says: the ladder, and what the copies did to it.
#include "columns.hpp"
#include "conclusion.hpp"
#include "report_json.hpp"
#include "residency.hpp"
#include "study.hpp"
#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// A rung and what was measured on it.
struct Step : Rung {
  const ComparisonResult* result = nullptr;
  const Row* row = nullptr;
  const Row* resident_row = nullptr; ///< nullptr without one that has a time
  const Row* best_cpu = nullptr;     ///< of those that never visit the host; nullptr without one

  [[nodiscard]] double seconds() const { return row->step_seconds(); }
  [[nodiscard]] bool comparable() const { return row->ranked() && resident_row != nullptr; }
  /// How many times as long as with a field that stays.
  [[nodiscard]] double times_resident() const { return seconds() / resident_row->step_seconds(); }
  [[nodiscard]] std::int64_t visits_every() const { return planned.visits_host_every(); }
  /// Seconds that one visit of the host adds.
  [[nodiscard]] double visit_seconds() const {
    return (seconds() - resident_row->step_seconds()) * static_cast<double>(visits_every());
  }
};

bool stays_on_host(const Row& row) {
  return !row.on_device() && row.roundtrip_every == 0 && row.snapshot_every == 0;
}

/// The rows of a result come in the order of the rungs.
std::vector<Step> steps_of(const Ladder& ladder, const ComparisonResult& result) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < ladder.rungs.size() && i < result.rows.size(); ++i) {
    const Row* resident = result.find(ladder.rungs[i].resident);
    steps.push_back({ladder.rungs[i], &result, &result.rows[i],
                     resident != nullptr && resident->ranked() ? resident : nullptr,
                     fastest(result, stays_on_host)});
  }
  return steps;
}

constexpr Column<Step> residency_columns[] = {
    {nullptr, "row", as_text, field<&Step::row, &Row::name>},
    {"place", "place", as_text, field<&Step::place>},
    {"resident", nullptr, as_text, field<&Step::resident, or_null>},
    {nullptr, "time/iter", as_seconds, field<&Step::row, median_value>},
    {nullptr, "spread", as_spread, field<&Step::row, spread_value>},
    {"times_resident", "times resident", as_ratio,
     [](const Step& s) { return s.comparable() ? Value(s.times_resident()) : Value(); }},
    {"times_resident_width", nullptr, as_text,
     [](const Step& s) {
       return s.comparable() ? width_json(s.row->samples, s.resident_row->samples) : Value();
     }},
    {"visit_seconds", "a visit costs", as_seconds,
     [](const Step& s) {
       return s.comparable() && s.visits_every() > 0 ? Value(s.visit_seconds()) : Value();
     }},
    {nullptr, "vs best CPU", as_ratio,
     [](const Step& s) {
       return s.row->ranked() && s.best_cpu != nullptr
                  ? Value(s.best_cpu->step_seconds() / s.seconds())
                  : Value();
     }},
    {nullptr, "verified", as_text,
     [](const Step& s) -> Value { return format_verified(*s.result, *s.row); }},
};

/// From how many steps between two round trips on a kernel is faster than `rival`, whose field
/// stays. A field that stays on the device makes one a run.
std::string crossing_with(const std::vector<Step>& trips, const Row& rival) {
  const Step& first = trips.front();
  Study study{.axes = {"steps between two round trips"},
              .least_effect = first.result->least_effect};
  const auto add = [&](std::int64_t every, const Row& row) {
    study.points.push_back({.values = {std::to_string(every)},
                            .sizes = {static_cast<double>(every)},
                            .rows = {study_row(row), study_row(rival)}});
  };
  for (const Step& step : trips) {
    add(step.visits_every(), *step.row);
  }
  add(first.result->iterations, *first.resident_row);
  const auto found = crossings(
      study, 0, [](const StudyPoint& point) { return &point.rows.back(); },
      [](const StudyPoint& point) { return &point.rows.front(); });
  return fmt::format("; {}, whose field stays, takes {}: {}", rival.name,
                     format_seconds(rival.step_seconds()),
                     crossing_text(first.resident_row->name, rival.name, found.front().crossover,
                                   "number of " + study.axes.front(), study.axes.front()));
}

/// What the ladder of a place shows: its first round trips against the field that stays.
std::string story(const std::vector<Step>& steps, Place place, const ComparisonResult& result) {
  std::vector<Step> trips;
  std::ranges::copy_if(steps, std::back_inserter(trips), [&](const Step& step) {
    return step.place == place && step.planned.roundtrip_every > 0 && step.comparable();
  });
  if (trips.empty()) {
    return "";
  }
  const Step& naive = trips.front();
  const Row& resident = *naive.resident_row;
  const Row* rival = fastest(
      result, [&](const Row& row) { return stays_on_host(row) && row.name != resident.name; });
  return fmt::format(
      "{} takes {} a step when its field goes to the host and back every {}, {} times as long as "
      "when the field stays ({}){}.",
      resident.name, format_seconds(naive.seconds()),
      naive.visits_every() == 1 ? "step" : fmt::format("{} steps", naive.visits_every()),
      format_figure(naive.times_resident()), format_seconds(resident.step_seconds()),
      rival != nullptr ? crossing_with(trips, *rival) : "");
}

/// What a reader must know of these rows.
std::vector<std::string> notes_of(const std::vector<Step>& steps, const ComparisonResult& result) {
  std::vector<std::string> notes;
  std::vector<std::string_view> proved_too_early;
  for (const Step& step : steps) {
    if (step.row->verification && step.row->verification->steps < step.visits_every()) {
      proved_too_early.emplace_back(step.row->name);
    }
  }
  if (std::ranges::count(steps, Place::stand_in, &Step::place) > 0) {
    notes.emplace_back(
        "no GPU was timed, so simd plays one and memcpy stands for the copies: both fields are in "
        "this host's memory and no bus is between them, so these times are the host's, not a "
        "GPU's");
  }
  if (!proved_too_early.empty()) {
    notes.push_back(
        fmt::format("{}: verified after too few steps for a copy to the host, so no copy was "
                    "verified; choose a smaller --grid",
                    fmt::join(proved_too_early, "; ")));
  }
  notes.insert(notes.end(), result.notes.begin(), result.notes.end());
  return notes;
}

/// How much of what snapshots cost passes beside the computation.
std::string overlap(const std::vector<Step>& steps) {
  const Step* in_turn = nullptr;
  const Step* overlapped = nullptr;
  for (const Step& step : steps) {
    if (step.place == Place::gpu && step.comparable() && step.row->snapshot_every > 0) {
      (step.planned.session.async ? overlapped : in_turn) = &step;
    }
  }
  if (in_turn == nullptr || overlapped == nullptr || !(in_turn->visit_seconds() > 0)) {
    return "";
  }
  if (judge(ratio_in_run(in_turn->row->samples, overlapped->row->samples),
            in_turn->result->least_effect) != Verdict::slower) {
    return " Whether overlapping hides any of what snapshots cost is uncertain.";
  }
  const double hidden = 1 - overlapped->visit_seconds() / in_turn->visit_seconds();
  return fmt::format(" Overlapping hides {:.0f} % of what snapshots cost.", 100 * hidden);
}

std::string format_sentence(const Ladder& ladder, const std::vector<Step>& steps,
                            const ComparisonResult& result) {
  if (std::string text = story(steps, Place::gpu, result); !text.empty()) {
    return text + overlap(steps);
  }
  const std::string why = !ladder.why_no_gpu.empty() ? ladder.why_no_gpu
                          : std::ranges::any_of(result.rows, &Row::emulated)
                              ? "it is emulated, and an emulation is never timed"
                              : "it has no verified time";
  const std::string text = story(steps, Place::stand_in, result);
  return fmt::format("What copies cost on a GPU is not measured here ({}).{}", why,
                     text.empty() ? "" : " Within this host: " + text);
}

} // namespace

LabReport residency_report(const Ladder& ladder, const ComparisonResult& result) {
  const std::vector<Step> steps = steps_of(ladder, result);
  std::vector<Step> shown;
  std::ranges::copy_if(steps, std::back_inserter(shown),
                       [](const Step& step) { return step.row->status != Status::skipped; });
  Value rows = Value::list();
  std::vector<SampleSeries> series;
  for (const Step& step : steps) {
    rows.push_back(object_of(residency_columns, step, row_json(result, *step.row)));
    if (step.row->ranked()) {
      series.push_back(sample_series(result.problem, *step.row, "residency"));
    }
  }
  std::vector<Picture> pictures = row_pictures(result);
  pictures.push_back({"Time of a step, by the steps between two visits of the field to the host",
                      Figure::lines, "roundtrip_every", "seconds_per_iteration",
                      "resident transfer", "xy", "results", "seconds_per_iteration_interval"});
  return {.text = format_title(result) + format_rows(residency_columns, shown) +
                  format_troubles(result),
          .sentence = format_sentence(ladder, steps, result),
          .data = {{"problem", problem_json(result)},
                   {"why_no_gpu", or_null(ladder.why_no_gpu)},
                   {"results", std::move(rows)}},
          .columns = heads_of(residency_columns, row_heads()),
          .pictures = std::move(pictures),
          .series = std::move(series),
          .notes = notes_of(steps, result),
          .interrupted = result.interrupted,
          .disturbed = result.disturbed,
          .outcome = outcome_of(result)};
}

} // namespace diffbench::bench
