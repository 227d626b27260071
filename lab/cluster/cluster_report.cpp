// SPDX-License-Identifier: Apache-2.0
// What `diffbench cluster` says.
#include "columns.hpp"
#include "point_rows.hpp"
#include "prediction.hpp"
#include "report_json.hpp"
#include "statistics.hpp"
#include "study.hpp"
#include "table.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

// --- strong, weak, depth ------------------------------------------------------------------------

/// A line of the table.
struct ClusterLine : ClusterPoint {
  const ComparisonResult* frame = nullptr;
  const Row* row = nullptr;
  std::optional<double> rate = {};       ///< cells a second
  std::optional<double> efficiency = {}; ///< of its threads, against the run without ranks
  cluster::RankTimes slowest = {};       ///< of the profile: the rank that computes longest
  std::optional<double> imbalance = {};  ///< the longest pace over the mean time busy, less 1

  [[nodiscard]] std::int64_t depth() const { return row->provenance.halo_depth.value_or(1); }
  [[nodiscard]] int threads() const { return row->provenance.threads; }
};

std::vector<ClusterLine> lines_of(const ClusterStudy& study) {
  std::vector<ClusterLine> lines;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const Row& row = study.frame.rows[i];
    ClusterLine& line = lines.emplace_back(ClusterLine{study.points[i], &study.frame, &row});
    const auto threads = [](const ClusterLine& of) { return std::max(1, of.ranks) * of.threads(); };
    if (row.ranked()) {
      line.rate = static_cast<double>(line.problem.cells()) / row.step_seconds();
      if (lines.front().rate) {
        line.efficiency =
            *line.rate / threads(line) / (*lines.front().rate / threads(lines.front()));
      }
    }
    if (!line.profile.empty()) {
      line.slowest = std::ranges::max(line.profile, {}, &cluster::RankTimes::compute);
      double busy = 0;
      for (const cluster::RankTimes& rank : line.profile) {
        busy += (rank.compute + rank.copy) / static_cast<double>(line.profile.size());
      }
      line.imbalance =
          std::ranges::max(line.profile, {}, &cluster::RankTimes::pace).pace / busy - 1;
    }
  }
  return lines;
}

template <double cluster::RankTimes::*part>
Value of_slowest(const ClusterLine& line) {
  return line.profile.empty() ? Value() : Value(line.slowest.*part);
}

Value model_error(const ClusterLine& line) {
  return line.row->ranked() && line.modelled_seconds
             ? Value(*line.modelled_seconds / line.row->step_seconds() - 1)
             : Value();
}

/// The parts of a step are those of the rank that computes longest.
constexpr Column<ClusterLine> cluster_columns[] = {
    {"ranks", "ranks", as_text, field<&ClusterLine::ranks>,
     [](const ClusterLine& line) {
       return line.ranks == 0 ? std::string("without") : std::to_string(line.ranks);
     }},
    {"threads", "threads a rank", as_text, field<&ClusterLine::threads>},
    {"halo_depth", "halo depth", as_text,
     [](const ClusterLine& line) { return line.ranks > 1 ? Value(line.depth()) : Value(); }},
    {"nx", nullptr, as_text, field<&ClusterLine::problem, &Problem::nx>},
    {"ny", "rows", as_text, field<&ClusterLine::problem, &Problem::ny>},
    {"oversubscribed", nullptr, as_text, field<&ClusterLine::row, &Row::oversubscribed>},
    {"seconds_per_step", "time/iter", as_seconds, field<&ClusterLine::row, median_value>},
    {nullptr, "spread", as_spread, field<&ClusterLine::row, spread_value>},
    {"modelled_seconds", "model", as_seconds, field<&ClusterLine::modelled_seconds>},
    {"model_error", "off by", as_percent, model_error},
    {nullptr, "GCell/s", as_figure,
     [](const ClusterLine& line) { return line.rate ? Value(*line.rate / 1e9) : Value(); }},
    {"efficiency", "efficiency", as_percent, field<&ClusterLine::efficiency>},
    {nullptr, "verified", as_text,
     [](const ClusterLine& line) -> Value { return format_verified(*line.frame, *line.row); }},
    {"compute_seconds", "compute", as_seconds, of_slowest<&cluster::RankTimes::compute>},
    {"copy_seconds", "pack", as_seconds, of_slowest<&cluster::RankTimes::copy>},
    {"wait_seconds", "wait", as_seconds, of_slowest<&cluster::RankTimes::wait>},
    {"imbalance", "imbalance", as_percent, field<&ClusterLine::imbalance>},
};

/// The best of these lines, and who may be as good.
std::string best_text(const std::vector<ClusterLine>& lines, const ClusterStudy& study,
                      const ClusterLine** best) {
  PacedRows paced{study.frame.least_effect, study.question == ClusterQuestion::weak};
  for (const ClusterLine& line : lines) {
    if (line.rate) {
      paced.add(study_row(*line.row), static_cast<double>(line.problem.cells()));
    }
  }
  const Leader<StudyRow> found = paced.first();
  *best = nullptr;
  for (const ClusterLine& line : lines) {
    if (found.best != nullptr && line.row->name == found.best->name) {
      *best = &line;
    }
  }
  return order_doubt(found);
}

std::string scaling_sentence(const std::vector<ClusterLine>& lines, const ClusterStudy& study) {
  const ClusterLine* best = nullptr;
  const std::string doubt = best_text(lines, study, &best);
  if (best == nullptr) {
    return "No row has both a verified result and a time.";
  }
  return fmt::format(
      "{} is the fastest, {} GCell/s{}{}. A slow kernel would scale better: look at "
      "the rate first, then at the efficiency.",
      best->row->name, format_figure(*best->rate / 1e9),
      best->ranks > 0 && best->efficiency
          ? fmt::format(", {} of the rate of as many threads without ranks",
                        format_percent(*best->efficiency))
          : "",
      doubt);
}

std::string depth_sentence(std::vector<ClusterLine> lines, const ClusterStudy& study) {
  std::erase_if(lines, [](const ClusterLine& line) { return line.ranks == 0; });
  const ClusterLine* best = nullptr;
  const std::string doubt = best_text(lines, study, &best);
  if (best == nullptr) {
    return "No depth has both a verified result and a time.";
  }
  std::string text = fmt::format("Halos of {} rows are the best, {} a step{}", best->depth(),
                                 format_seconds(best->row->step_seconds()), doubt);
  if (const ClusterLine& each = lines.front(); each.row->ranked() && best->depth() > each.depth()) {
    text += fmt::format("; one exchange {} takes {} times as long",
                        each.depth() == 1 ? "a step" : fmt::format("every {} steps", each.depth()),
                        format_figure(each.row->step_seconds() / best->row->step_seconds()));
  }
  std::erase_if(lines, [](const ClusterLine& line) { return model_error(line).is_null(); });
  if (!lines.empty()) {
    std::vector<double> errors;
    for (const ClusterLine& line : lines) {
      errors.push_back(std::abs(model_error(line).number()));
    }
    text += fmt::format(
        ". The model, from what a rank computes and what an exchange takes, says {}, "
        "and its times are off by {} in the median",
        std::ranges::min(lines, {}, &ClusterLine::modelled_seconds).depth(),
        format_percent(median_of(errors)));
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
  if (std::ranges::any_of(study.frame.rows, &Row::oversubscribed)) {
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

Value profile_json(const ClusterLine& line) {
  return Value::each(line.profile, [](const cluster::RankTimes& rank) -> Value {
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
  const bool depth = study.question == ClusterQuestion::depth;
  LabReport report;
  report.text = format_title(study.frame) + format_rows(cluster_columns, lines) +
                format_troubles(study.frame);
  report.sentence = depth ? depth_sentence(lines, study) : scaling_sentence(lines, study);
  report.notes = notes_of(study);
  add_frame(report, study.frame);
  Value results = Value::list();
  for (const ClusterLine& line : lines) {
    ComparisonResult frame = study.frame;
    frame.problem = line.problem;
    frame.rows.clear(); // their grids may be others
    Value object = object_of(cluster_columns, line, row_json(frame, *line.row));
    object["profile"] = profile_json(line);
    results.push_back(std::move(object));
    if (line.rate) {
      report.series.push_back(sample_series(line.problem, *line.row, "cluster"));
    }
  }
  report.data = {{"question", to_string(study.question)},
                 {"backend", study.backend},
                 {"transport", study.transport},
                 {"problem", problem_json(study.frame)},
                 {"results", std::move(results)}};
  report.columns = heads_of(cluster_columns, row_heads());
  const char* const along = depth ? "halo_depth" : "ranks";
  report.pictures = {
      {depth ? "Time of a step, by the depth of the halos" : "Rate, by ranks", Figure::lines, along,
       depth ? "seconds_per_step modelled_seconds" : "cells_per_second"},
      {"Where a step of the slowest rank goes", Figure::stack, along,
       "compute_seconds copy_seconds wait_seconds"}};
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
  add_frame(report, prediction.frame);
  report.outcome = prediction.assumed ? Outcome{} : report.outcome;
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
