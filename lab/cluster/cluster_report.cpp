// SPDX-License-Identifier: Apache-2.0
// What `diffbench cluster` says.
#include "columns.hpp"
#include "prediction.hpp"
#include "report_json.hpp"
#include "statistics.hpp"
#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

// --- strong, weak, depth ------------------------------------------------------------------------

/// A line of the table.
struct ClusterLine : ClusterEntry {
  std::string verified;
  std::optional<double> rate;       ///< cells a second
  std::optional<double> efficiency; ///< of the threads that it has, against the run without ranks
  cluster::RankTimes slowest = {};  ///< of the profile: the rank that computes longest
  std::optional<double> imbalance;  ///< the longest pace over the mean time busy, less 1
  bool best_measured = false;
  bool best_modelled = false;
};

double cpus_of(const ClusterEntry& entry) { return std::max(1, entry.ranks) * entry.threads; }

ClusterLine line_of(const ClusterStudy& study, const ClusterEntry& entry) {
  ClusterLine line{entry, format_verified(study.frame, entry.row), {}, {}, {}, {}};
  if (entry.counts()) {
    line.rate = entry.cells_per_second();
    if (const ClusterEntry* base = study.baseline()) {
      line.efficiency = *line.rate / cpus_of(entry) / (base->cells_per_second() / cpus_of(*base));
    }
  }
  if (!entry.profile.empty()) {
    line.slowest = *std::ranges::max_element(entry.profile, {}, &cluster::RankTimes::compute);
    double sum = 0;
    for (const cluster::RankTimes& rank : entry.profile) {
      sum += rank.compute + rank.copy;
    }
    line.imbalance = std::ranges::max(entry.profile, {}, &cluster::RankTimes::pace).pace /
                         (sum / static_cast<double>(entry.profile.size())) -
                     1;
  }
  return line;
}

std::vector<ClusterLine> lines_of(const ClusterStudy& study) {
  std::vector<ClusterLine> lines;
  for (const ClusterEntry& entry : study.entries) {
    lines.push_back(line_of(study, entry));
  }
  if (study.question != ClusterQuestion::depth) {
    return lines;
  }
  ClusterLine* measured = nullptr;
  ClusterLine* modelled = nullptr;
  for (ClusterLine& line : lines) {
    if (line.ranks > 0 && line.counts() &&
        (measured == nullptr || line.row.step_seconds() < measured->row.step_seconds())) {
      measured = &line;
    }
    if (line.modelled_seconds &&
        (modelled == nullptr || *line.modelled_seconds < *modelled->modelled_seconds)) {
      modelled = &line;
    }
  }
  if (measured != nullptr) {
    measured->best_measured = true;
  }
  if (modelled != nullptr) {
    modelled->best_modelled = true;
  }
  return lines;
}

std::string format_ranks(const ClusterLine& line) {
  return line.ranks == 0 ? "without" : std::to_string(line.ranks);
}

std::string format_depth(const ClusterLine& line) {
  if (line.ranks < 2) {
    return no_value;
  }
  return fmt::format("{}{}{}", line.depth, line.best_measured ? " best" : "",
                     line.best_modelled ? " model's best" : "");
}

Value of_profile(const ClusterLine& line, double cluster::RankTimes::*part) {
  return line.profile.empty() ? Value() : Value(line.slowest.*part);
}

Value model_error(const ClusterLine& line) {
  return line.counts() && line.modelled_seconds
             ? Value(*line.modelled_seconds / line.row.step_seconds() - 1)
             : Value();
}

/// An oversubscribed row has none: its time says nothing.
Value step_time(const ClusterLine& line) {
  return line.counts() ? Value(line.row.step_seconds()) : Value();
}

constexpr Column<ClusterLine> time_columns[] = {
    {"ranks", "ranks", as_text, field<&ClusterLine::ranks>, format_ranks},
    {"threads", "threads a rank", as_text, field<&ClusterLine::threads>},
    {"halo_depth", "halo depth", as_text,
     [](const ClusterLine& line) { return line.ranks > 1 ? Value(line.depth) : Value(); },
     format_depth},
    {nullptr, "rows", as_text, field<&ClusterLine::problem, &Problem::ny>},
    {"nx", nullptr, as_text, field<&ClusterLine::problem, &Problem::nx>},
    {"ny", nullptr, as_text, field<&ClusterLine::problem, &Problem::ny>},
    {"oversubscribed", nullptr, as_text, field<&ClusterLine::oversubscribed>},
    {"seconds_per_step", "time/iter", as_seconds, step_time},
    {nullptr, "spread", as_spread,
     [](const ClusterLine& line) { return line.counts() ? spread_value(line.row) : Value(); }},
    {"modelled_seconds", "model", as_seconds, field<&ClusterLine::modelled_seconds>},
    {"model_error", "off by", as_percent, model_error},
    {nullptr, "GCell/s", as_figure,
     [](const ClusterLine& line) { return line.rate ? Value(*line.rate / 1e9) : Value(); }},
    {"efficiency", "efficiency", as_percent, field<&ClusterLine::efficiency>},
    {nullptr, "verified", as_text, field<&ClusterLine::verified>},
};

/// Of rows with ranks.
constexpr Column<ClusterLine> profile_columns[] = {
    {nullptr, "ranks", as_text, field<&ClusterLine::ranks>},
    {nullptr, "halo depth", as_text,
     [](const ClusterLine& line) { return line.ranks > 1 ? Value(line.depth) : Value(); }},
    {"compute_seconds", "compute", as_seconds,
     [](const ClusterLine& line) { return of_profile(line, &cluster::RankTimes::compute); }},
    {"copy_seconds", "pack", as_seconds,
     [](const ClusterLine& line) { return of_profile(line, &cluster::RankTimes::copy); }},
    {"wait_seconds", "wait", as_seconds,
     [](const ClusterLine& line) { return of_profile(line, &cluster::RankTimes::wait); }},
    {"imbalance", "imbalance", as_percent, field<&ClusterLine::imbalance>},
};

/// Where a step goes, on the rank that computes longest.
std::string format_profiles(const std::vector<ClusterLine>& lines) {
  std::vector<ClusterLine> profiled;
  std::ranges::copy_if(lines, std::back_inserter(profiled),
                       [](const ClusterLine& line) { return !line.profile.empty(); });
  return profiled.empty()
             ? ""
             : "\na step of the slowest rank\n" + format_rows(profile_columns, profiled);
}

std::string scaling_sentence(const std::vector<ClusterLine>& lines) {
  const ClusterLine* best = nullptr;
  for (const ClusterLine& line : lines) {
    if (line.rate && (best == nullptr || *line.rate > *best->rate)) {
      best = &line;
    }
  }
  if (best == nullptr) {
    return "No row has both a verified result and a time.";
  }
  std::string text = best->ranks == 0 ? "No number of ranks is faster than the run without ranks"
                                      : fmt::format("{}{}", best->ranks,
                                                    best->ranks == 1 ? " rank is the fastest"
                                                                     : " ranks are "
                                                                       "the fastest");
  text += fmt::format(", {} GCell/s", format_figure(*best->rate / 1e9));
  if (best->ranks > 0 && best->efficiency) {
    text += fmt::format(", {} of the rate of as many threads without ranks",
                        format_percent(*best->efficiency));
  }
  return text +
         ". A slow kernel would scale better: look at the rate first, then at the efficiency.";
}

std::string depth_sentence(const std::vector<ClusterLine>& lines) {
  const auto measured = std::ranges::find(lines, true, &ClusterLine::best_measured);
  const auto modelled = std::ranges::find(lines, true, &ClusterLine::best_modelled);
  if (measured == lines.end()) {
    return "No depth has both a verified result and a time.";
  }
  std::string text = fmt::format("Halos of {} rows are the best, {} a step", measured->depth,
                                 format_seconds(measured->row.step_seconds()));
  const auto each = std::ranges::find_if(
      lines, [](const ClusterLine& line) { return line.ranks > 1 && line.depth == 1; });
  if (each != lines.end() && each->counts() && measured->depth > 1) {
    text += fmt::format("; one exchange a step takes {} times as long",
                        format_figure(each->row.step_seconds() / measured->row.step_seconds()));
  }
  if (modelled != lines.end()) {
    std::vector<double> errors;
    for (const ClusterLine& line : lines) {
      if (line.counts() && line.modelled_seconds) {
        errors.push_back(std::abs(*line.modelled_seconds / line.row.step_seconds() - 1));
      }
    }
    text += fmt::format(
        ". The model, from what a rank computes and what an exchange takes, says {}, "
        "and its times are off by {} in the median",
        modelled->depth, format_percent(median_of(errors)));
  }
  return text + ".";
}

std::string exchange_note(const cluster::ExchangeCost& cost, double residual) {
  return fmt::format(
      "an exchange of halos takes {} plus {} a MB of a message (fit, off by {} in the median)",
      format_seconds(cost.seconds), format_seconds(1e6 * cost.seconds_per_byte),
      format_percent(residual));
}

std::vector<std::string> notes_of(const ClusterStudy& study) {
  std::vector<std::string> notes;
  if (std::ranges::any_of(study.entries, &ClusterEntry::oversubscribed)) {
    notes.emplace_back(
        "oversubscribed: correctness only. Ranks with more threads than CPUs take "
        "turns; they have no time and no efficiency");
  }
  notes.push_back("ranks communicate by: " + study.transport);
  if (study.exchange) {
    notes.push_back(exchange_note(study.exchange->cost, study.exchange->median_residual));
  }
  return notes;
}

Value profile_json(const ClusterEntry& entry) {
  return Value::each(entry.profile, [](const cluster::RankTimes& rank) -> Value {
    return {{"compute_seconds", rank.compute},
            {"copy_seconds", rank.copy},
            {"wait_seconds", rank.wait},
            {"pace_seconds", rank.pace}};
  });
}

// --- predict ------------------------------------------------------------------------------------

Value error_of(const PredictedRun& run) {
  return run.measured ? Value(run.seconds / *run.measured - 1) : Value();
}

constexpr Column<PredictedRun> predicted_columns[] = {
    {"ranks", "ranks", as_text, field<&PredictedRun::ranks>},
    {nullptr, "grid", as_text,
     [](const PredictedRun& run) -> Value {
       return fmt::format("{}x{}", run.problem.nx, run.problem.ny);
     }},
    {"nx", nullptr, as_text, field<&PredictedRun::problem, &Problem::nx>},
    {"ny", nullptr, as_text, field<&PredictedRun::problem, &Problem::ny>},
    {"halo_depth", "halo depth", as_text,
     [](const PredictedRun& run) { return run.ranks > 1 ? Value(run.depth) : Value(); }},
    {"seconds_per_step", "time/iter", as_seconds, field<&PredictedRun::seconds>},
    {"cells_per_second", nullptr, as_figure, field<&PredictedRun::cells_per_second>},
    {nullptr, "GCell/s", as_figure,
     [](const PredictedRun& run) -> Value { return run.cells_per_second() / 1e9; }},
    {"efficiency", "efficiency", as_percent, field<&PredictedRun::efficiency>},
    {"efficiency_exchanging_every_step", "exchanging every step", as_percent,
     field<&PredictedRun::every_step>},
    {"measured_seconds", "measured", as_seconds, field<&PredictedRun::measured>},
    {"error", "prediction off by", as_percent, error_of},
};

std::string prediction_sentence(const ClusterPrediction& prediction) {
  const PredictedRun& most = *std::ranges::max_element(prediction.runs, {}, &PredictedRun::ranks);
  std::string text =
      fmt::format("On {} a step takes {}, {} GCell/s, {} of ideal", counted(most.ranks, "rank"),
                  format_seconds(most.seconds), format_figure(most.cells_per_second() / 1e9),
                  format_percent(most.efficiency));
  if (most.every_step && most.depth > 1) {
    text += fmt::format(" with halos of {} rows ({} with one exchange a step)", most.depth,
                        format_percent(*most.every_step));
  }
  return text + (prediction.assumed ? ", if what is assumed holds." : ".");
}

} // namespace

LabReport cluster_report(const ClusterStudy& study) {
  const std::vector<ClusterLine> lines = lines_of(study);
  LabReport report;
  std::vector<ClusterLine> unmarked = lines;
  for (ClusterLine& line : unmarked) {
    line.best_measured = line.best_modelled = false;
  }
  const std::string profiles = format_profiles(lines);
  report.text = format_title(study.frame) + format_rows(time_columns, lines) + profiles;
  report.figures = format_title(study.frame) + format_rows(time_columns, unmarked) + profiles;
  report.sentence =
      study.question == ClusterQuestion::depth ? depth_sentence(lines) : scaling_sentence(lines);
  report.notes = notes_of(study);
  report.notes.insert(report.notes.end(), study.frame.notes.begin(), study.frame.notes.end());
  report.interrupted = study.frame.interrupted;
  report.disturbed = study.frame.disturbed;

  ComparisonResult rows = study.frame;
  rows.rows.clear();
  Value results = Value::list();
  for (const ClusterLine& line : lines) {
    ComparisonResult frame = study.frame;
    frame.problem = line.problem;
    Value object = object_of(time_columns, line, row_json(frame, line.row));
    object = object_of(profile_columns, line, std::move(object));
    object.at_path("profile") = profile_json(line);
    results.push_back(std::move(object));
    rows.rows.push_back(line.row);
    if (line.counts()) {
      report.series.push_back(sample_series(line.problem, line.row, "cluster"));
    }
  }
  report.text += format_troubles(rows);
  *report.figures += format_troubles(rows);
  report.outcome = outcome_of(rows);
  report.data = {{"question", to_string(study.question)},
                 {"backend", study.backend},
                 {"transport", study.transport},
                 {"problem", problem_json(study.frame)},
                 {"results", std::move(results)}};
  report.columns = heads_of(profile_columns, heads_of(time_columns, row_heads()));
  const bool depth = study.question == ClusterQuestion::depth;
  report.pictures = {{depth ? "Time of a step, by the depth of the halos" : "Rate, by ranks",
                      Figure::lines, depth ? "halo_depth" : "ranks",
                      depth ? "seconds_per_step modelled_seconds" : "cells_per_second"},
                     {"Where a step of the slowest rank goes", Figure::stack,
                      depth ? "halo_depth" : "ranks", "compute_seconds copy_seconds wait_seconds"}};
  if (study.exchange) {
    report.data.at_path("exchange.seconds") = study.exchange->cost.seconds;
    report.data.at_path("exchange.seconds_per_byte") = study.exchange->cost.seconds_per_byte;
    report.data.at_path("exchange.median_residual") = study.exchange->median_residual;
  }
  return report;
}

LabReport prediction_report(const ClusterPrediction& prediction) {
  LabReport report;
  report.text = format_title(prediction.frame) + prediction.source + "\n\n" +
                format_rows(predicted_columns, prediction.runs);
  report.sentence = prediction.runs.empty() ? "" : prediction_sentence(prediction);
  if (prediction.fit_residual) {
    report.notes.push_back(exchange_note(prediction.exchange, *prediction.fit_residual));
  }
  report.notes.insert(report.notes.end(), prediction.notes.begin(), prediction.notes.end());
  report.outcome = prediction.assumed ? Outcome{} : outcome_of(prediction.frame);
  report.interrupted = prediction.frame.interrupted;
  report.disturbed = prediction.frame.disturbed;
  report.data = {{"question", "predict"},
                 {"assumed", prediction.assumed},
                 {"source", prediction.source},
                 {"problem", problem_json(prediction.frame)},
                 {"rank_cells_per_second", prediction.cells_per_second},
                 {"results", list_of(predicted_columns, prediction.runs)}};
  report.columns = heads_of(predicted_columns);
  report.pictures = {{"Predicted efficiency, by ranks", Figure::lines, "ranks",
                      "efficiency efficiency_exchanging_every_step", "", "x"},
                     {"Predicted time of a step, by ranks", Figure::lines, "ranks",
                      "seconds_per_step measured_seconds", "", "xy"}};
  report.data.at_path("exchange.seconds") = prediction.exchange.seconds;
  report.data.at_path("exchange.seconds_per_byte") = prediction.exchange.seconds_per_byte;
  return report;
}

} // namespace diffbench::bench
