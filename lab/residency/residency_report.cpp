// SPDX-License-Identifier: Apache-2.0
// What `diffbench residency` says: the ladder, and what the copies did to it.
#include "columns.hpp"
#include "conclusion.hpp"
#include "report_json.hpp"
#include "residency.hpp"
#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// A rung and what was measured on it. The rows of a result come in the order of the rungs.
struct Step {
  const ComparisonResult* result;
  const Row* best_cpu; ///< of those that never visit the host; nullptr without one
  const Rung* rung;
  const Row* row;
  const Row* resident; ///< nullptr without one that has a time

  [[nodiscard]] double seconds() const { return *seconds_per_iteration(*row); }
  [[nodiscard]] bool comparable() const { return row->ranked() && resident != nullptr; }
  /// How many times as long as with a field that stays.
  [[nodiscard]] double times_resident() const {
    return seconds() / *seconds_per_iteration(*resident);
  }
  /// Seconds that one visit of the host adds.
  [[nodiscard]] double visit_seconds() const {
    return (seconds() - *seconds_per_iteration(*resident)) *
           static_cast<double>(rung->planned.visits_host_every());
  }
  [[nodiscard]] bool visits() const { return rung->planned.visits_host_every() > 0; }
};

bool stays_on_host(const Row& row) {
  return !row.on_device() && row.roundtrip_every == 0 && row.snapshot_every == 0;
}

std::vector<Step> steps_of(const Ladder& ladder, const ComparisonResult& result) {
  const Row* best_cpu = fastest(result, [](const Row& row) { return stays_on_host(row); });
  std::vector<Step> steps;
  for (std::size_t i = 0; i < ladder.rungs.size() && i < result.rows.size(); ++i) {
    const Row* resident = result.find(ladder.rungs[i].resident);
    steps.push_back({.result = &result,
                     .best_cpu = best_cpu,
                     .rung = &ladder.rungs[i],
                     .row = &result.rows[i],
                     .resident = resident != nullptr && resident->ranked() ? resident : nullptr});
  }
  return steps;
}

std::string title_of(Place place, const std::vector<Step>& steps) {
  switch (place) {
    case Place::cpu: return "on the CPU";
    case Place::gpu: break;
    case Place::stand_in: return "no GPU, copies within the host";
  }
  for (const Step& step : steps) {
    if (step.rung->place == Place::gpu && step.row->emulated()) {
      return "on an emulated GPU";
    }
  }
  return "on the GPU";
}

std::string_view name_of(Place place) {
  constexpr std::array<std::string_view, 3> names{"cpu", "gpu", "stand_in"};
  return names.at(static_cast<std::size_t>(place));
}

constexpr Column<Step> residency_columns[] = {
    {nullptr, "row", as_text, field<&Step::row, &Row::name>},
    {"place", nullptr, as_text, field<&Step::rung, &Rung::place, name_of>},
    {"resident", nullptr, as_text, field<&Step::rung, &Rung::resident, or_null>},
    {nullptr, "time/iter", as_seconds, field<&Step::row, median_value>},
    {nullptr, "spread", as_spread, field<&Step::row, spread_value>},
    {"times_resident", "times resident", as_ratio,
     [](const Step& s) { return s.comparable() ? Value(s.times_resident()) : Value(); }},
    {"visit_seconds", "a visit costs", as_seconds,
     [](const Step& s) {
       return s.comparable() && s.visits() ? Value(s.visit_seconds()) : Value();
     }},
    {nullptr, "vs best CPU", as_ratio,
     [](const Step& s) {
       return s.row->ranked() && s.best_cpu != nullptr
                  ? Value(*seconds_per_iteration(*s.best_cpu) / s.seconds())
                  : Value();
     }},
    {nullptr, "verified", as_text,
     [](const Step& s) -> Value { return format_verified(*s.result, *s.row); }},
};

std::string format_section(Place place, const std::vector<Step>& steps) {
  std::vector<Step> shown;
  std::ranges::copy_if(steps, std::back_inserter(shown), [&](const Step& step) {
    return step.rung->place == place && step.row->status != Status::skipped;
  });
  TextTable table = table_of(residency_columns);
  table.rename(0, title_of(place, steps));
  return shown.empty() ? "" : "\n" + format_rows(residency_columns, shown, std::move(table));
}

/// The round trips with the same kernel and way of copying, from none on.
std::vector<VisitCost> round_trip_costs(const std::vector<Step>& steps, Place place) {
  std::vector<VisitCost> costs;
  for (const Step& step : steps) {
    const std::int64_t every = step.rung->planned.roundtrip_every;
    if (step.rung->place == place && step.comparable() && every > 0) {
      costs.push_back({1 / static_cast<double>(every), step.seconds()});
      if (costs.size() == 1) {
        costs.push_back({0, *seconds_per_iteration(*step.resident)});
      }
    }
  }
  std::ranges::sort(costs, {}, &VisitCost::visits);
  return costs;
}

/// How often the field may come to the host before the rival, whose field stays, is as fast;
/// `naive` comes most often of these. Said where the rival is shown to be faster or slower than
/// both ends.
std::string affordable(const std::vector<VisitCost>& costs, const Step& naive, const Row& rival) {
  const auto visits = affordable_visits(costs, *seconds_per_iteration(rival));
  const double effect = naive.result->least_effect;
  const Verdict of_resident = judge(ratio_in_run(rival.samples, naive.resident->samples), effect);
  const Verdict of_naive = judge(ratio_in_run(rival.samples, naive.row->samples), effect);
  if (!visits && of_resident == Verdict::faster) {
    return "which is faster however seldom the field is copied";
  }
  if (visits && std::isinf(*visits) && of_naive == Verdict::slower) {
    return "which is slower even then";
  }
  if (visits && std::isfinite(*visits) && of_resident == Verdict::slower &&
      of_naive == Verdict::faster) {
    return fmt::format("which is faster if there is more than one round trip in about {:.0f} steps",
                       std::ceil(1 / *visits));
  }
  return "too near to say which of them is faster from how many round trips on";
}

/// What the ladder of a place shows: its first round trips against the field that stays.
std::string story(const std::vector<Step>& steps, Place place, const ComparisonResult& result) {
  const auto naive = std::ranges::find_if(steps, [&](const Step& step) {
    return step.rung->place == place && step.rung->planned.roundtrip_every > 0 && step.comparable();
  });
  if (naive == steps.end()) {
    return "";
  }
  const Row& resident = *naive->resident;
  const Row* rival = fastest(
      result, [&](const Row& row) { return stays_on_host(row) && row.name != resident.name; });
  const std::int64_t every = naive->rung->planned.roundtrip_every;
  std::string text = fmt::format(
      "{} takes {} a step when its field goes to the host and back every {}, {} times as long as "
      "when the field stays ({})",
      resident.name, format_seconds(naive->seconds()),
      every == 1 ? "step" : fmt::format("{} steps", every), format_figure(naive->times_resident()),
      format_seconds(*seconds_per_iteration(resident)));
  if (rival != nullptr) {
    text += fmt::format("; {}, whose field stays, takes {}, {}", rival->name,
                        format_seconds(*seconds_per_iteration(*rival)),
                        affordable(round_trip_costs(steps, place), *naive, *rival));
  }
  return text + ".";
}

/// What a reader must know of these rows.
std::vector<std::string> own_notes(const std::vector<Step>& steps) {
  std::vector<std::string> notes;
  std::vector<std::string_view> proved_too_early;
  bool stand_in = false;
  for (const Step& step : steps) {
    stand_in = stand_in || step.rung->place == Place::stand_in;
    if (step.row->verification &&
        step.row->verification->steps < step.rung->planned.visits_host_every()) {
      proved_too_early.emplace_back(step.row->name);
    }
  }
  if (stand_in) {
    notes.emplace_back(
        "without a GPU, memcpy stands for the copies: both fields are in this host's memory and "
        "no bus is between them, so these times are the host's, not a GPU's");
  }
  if (!proved_too_early.empty()) {
    notes.push_back(
        fmt::format("{}: verified after too few steps for a copy to the host, so no copy was "
                    "verified; choose a smaller --grid",
                    fmt::join(proved_too_early, "; ")));
  }
  return notes;
}

/// How much of what snapshots cost passes beside the computation.
std::string overlap(const std::vector<Step>& steps) {
  const Step* in_turn = nullptr;
  const Step* overlapped = nullptr;
  for (const Step& step : steps) {
    if (step.rung->place == Place::gpu && step.comparable() && step.row->snapshot_every > 0) {
      (step.rung->planned.session.async ? overlapped : in_turn) = &step;
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
                          : title_of(Place::gpu, steps) == "on the GPU"
                              ? "it has no verified time"
                              : "it is emulated, and an emulation is never timed";
  const std::string text = story(steps, Place::stand_in, result);
  return fmt::format("What copies cost on a GPU is not measured here ({}).{}", why,
                     text.empty() ? "" : " Within this host: " + text);
}

} // namespace

LabReport residency_report(const Ladder& ladder, const ComparisonResult& result) {
  const std::vector<Step> steps = steps_of(ladder, result);
  std::string sections;
  for (const Place place : {Place::cpu, Place::gpu, Place::stand_in}) {
    sections += format_section(place, steps);
  }
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
  std::vector<std::string> notes = own_notes(steps);
  notes.insert(notes.end(), result.notes.begin(), result.notes.end());
  return {.text = format_title(result) + sections.substr(sections.empty() ? 0 : 1) +
                  format_troubles(result),
          .sentence = format_sentence(ladder, steps, result),
          .data = {{"problem", problem_json(result)},
                   {"why_no_gpu", or_null(ladder.why_no_gpu)},
                   {"results", std::move(rows)}},
          .columns = heads_of(residency_columns, row_heads()),
          .pictures = std::move(pictures),
          .series = std::move(series),
          .notes = std::move(notes),
          .interrupted = result.interrupted,
          .disturbed = result.disturbed,
          .outcome = outcome_of(result)};
}

} // namespace diffbench::bench
