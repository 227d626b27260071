// SPDX-License-Identifier: Apache-2.0
// What `mlp throughput` says: the curve, the best, and the smallest batch that is as good.
#include "columns.hpp"
#include "conclusion.hpp"
#include "small_nets.hpp"
#include "statistics.hpp"
#include "throughput.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

std::vector<RaceRow> rows_of(const ThroughputStudy& study) {
  std::vector<RaceRow> rows;
  for (const EngineThroughput& engine : study.engines) {
    rows.push_back(engine.row);
  }
  return rows;
}

/// A line a batch size, a column an engine.
std::string format_curves(const ThroughputStudy& study, Evidence figures) {
  TextTable::Cells header{"batch"};
  std::map<std::int64_t, TextTable::Cells> lines;
  for (const EngineThroughput& engine : study.engines) {
    header.insert(header.end(), {engine.row.name + ", rows/s", "spread"});
    for (const BatchPoint& point : engine.search.curve) {
      TextTable::Cells& cells = lines[point.batch];
      cells.resize(header.size() - 2, no_value);
      cells.push_back(format_figure(point.rows_per_second) +
                      (&point == engine.search.best() && concludes(figures) ? " *" : "  "));
      cells.push_back(as_spread(relative_spread(engine.samples.at(point.batch))));
    }
  }
  TextTable table(header);
  for (auto& [batch, cells] : lines) {
    cells.resize(header.size(), no_value);
    cells.front() = std::to_string(batch);
    table.add(std::move(cells));
  }
  return table.format();
}

/// Times of a row of a batch of that size; there are some.
std::vector<double> row_seconds(const EngineThroughput& engine, std::int64_t batch) {
  std::vector<double> seconds = iteration_seconds(engine.samples.at(batch));
  for (double& each : seconds) {
    each /= static_cast<double>(batch);
  }
  return seconds;
}

/// Of one batch over another of the same engine.
Ratio batch_ratio(const EngineThroughput& engine, std::int64_t batch, std::int64_t other) {
  return ratio_apart(row_seconds(engine, batch), row_seconds(engine, other));
}

/// The smallest batch that is as good as the best; nullptr where the samples leave that open.
const BatchPoint* enough_batch(const EngineThroughput& engine) {
  const BatchPoint* const best = engine.search.best();
  const BatchPoint* const enough = engine.search.enough();
  for (const BatchPoint& point : engine.search.curve) {
    if (best == nullptr || point.batch > enough->batch) {
      break;
    }
    const std::optional<bool> is_slower =
        &point == best
            ? std::optional(false)
            : reaches(batch_ratio(engine, point.batch, best->batch), 1 / as_good_as_best);
    if (is_slower != (point.batch < enough->batch)) {
      return nullptr;
    }
  }
  return enough;
}

/// The next engine that may do as much, each in its best batches.
std::string doubt(const ThroughputStudy& study, const EngineThroughput& best) {
  const EngineThroughput* rival = nullptr;
  const auto rate = [](const EngineThroughput& engine) {
    return engine.search.best()->rows_per_second;
  };
  const auto ratio = [&](const EngineThroughput& engine) {
    return ratio_apart(row_seconds(engine, engine.search.best()->batch),
                       row_seconds(best, best.search.best()->batch));
  };
  for (const EngineThroughput& engine : study.engines) {
    if (engine.row.ranked() && &engine != &best &&
        judge(ratio(engine), least_effect_in_run) != Verdict::slower &&
        (rival == nullptr || rate(engine) > rate(*rival))) {
      rival = &engine;
    }
  }
  return rival == nullptr ? "" : order_doubt(ratio(*rival), rival->row.name + " (for a row)");
}

std::string sentence(const ThroughputStudy& study) {
  const EngineThroughput* best = nullptr;
  for (const EngineThroughput& engine : study.engines) {
    const BatchPoint* const point = engine.search.best();
    if (engine.row.ranked() &&
        (best == nullptr || point->rows_per_second > best->search.best()->rows_per_second)) {
      best = &engine;
    }
  }
  if (best == nullptr) {
    return "No engine has both a verified result and a rate.";
  }
  const BatchPoint& top = *best->search.best();
  const BatchPoint* const enough = enough_batch(*best);
  std::string text = fmt::format("{} is the fastest, {} rows a second in batches of {}",
                                 best->row.name, format_figure(top.rows_per_second), top.batch);
  if (enough == nullptr) {
    text += ", and how small a batch does 95 % of that is uncertain";
  } else if (enough->batch < top.batch) {
    text += fmt::format(", and at least 95 % of that from batches of {}", enough->batch);
  }
  const BatchPoint& one = best->search.curve.front();
  if (one.batch < best->search.enough()->batch) {
    text += fmt::format("; one row at a time it reaches {} of that",
                        format_percent(one.rows_per_second / top.rows_per_second));
  }
  return text + doubt(study, *best) + ".";
}

Value engine_json(const EngineThroughput& engine) {
  Value json = row_json(engine.row);
  json.erase("samples"); // they belong to batch sizes here
  json.erase("seconds_per_step");
  json.erase("threads_asked");
  json["verified_to"] = engine.verified_to;
  json["ended_by"] = engine.search.ended_by;
  json["curve"] = Value::each(engine.search.curve, [&](const BatchPoint& point) -> Value {
    return {{"batch", point.batch},
            {"rows_per_second", point.rows_per_second},
            {"samples", samples_json(engine.samples.at(point.batch), "batches")}};
  });
  const BatchPoint* const best = engine.search.best();
  json["best_batch"] = best != nullptr ? Value(best->batch) : Value();
  json["best_rows_per_second"] = best != nullptr ? Value(best->rows_per_second) : Value();
  const BatchPoint* const enough = enough_batch(engine);
  json["enough_batch"] = enough != nullptr ? Value(enough->batch) : Value();
  return json;
}

} // namespace

LabReport throughput_report(const ThroughputStudy& study) {
  LabReport report;
  const auto text = [&](Evidence figures) {
    return fmt::format("network {}, {}{}\n\n{}{}", mlp::to_string(study.network),
                       study.training ? "training steps" : "answers (forward)",
                       concludes(figures) ? "; * is the best" : "", format_curves(study, figures),
                       format_small_nets(rows_of(study)));
  };
  report.text = text(Evidence::sound);
  report.figures = text(Evidence::disturbed);
  report.found_in_data = {"results[].best_batch", "results[].best_rows_per_second",
                          "results[].enough_batch"};
  report.pictures = {{"Rows a second, by the size of a batch", Figure::lines, "batch",
                      "rows_per_second", "row", "xy", "results.curve"}};
  report.sentence = sentence(study);
  report.interrupted = study.interrupted;
  const std::vector<RaceRow> rows = rows_of(study);
  Value results = Value::list();
  report.rows = Value::list();
  for (const EngineThroughput& engine : study.engines) {
    results.push_back(engine_json(engine));
    if (!engine.search.ended_by.empty()) {
      report.notes.push_back(
          fmt::format("{}: verified up to batches of {}; the search upwards was ended by {}",
                      engine.row.name, engine.verified_to, engine.search.ended_by));
    }
    for (const BatchPoint& point : engine.search.curve) {
      report.rows->push_back({{"row", engine.row.name},
                              {"device", engine.row.device},
                              {"batch", point.batch},
                              {"rows_per_second", point.rows_per_second},
                              {"verified", engine.row.ranked()},
                              {"verified_to", engine.verified_to}});
    }
    for (const auto& [batch, samples] : engine.samples) {
      SampleSeries& series = report.series.emplace_back(
          series_of(study.training ? "throughput/train" : "throughput", study.network,
                    fmt::format("{}/{}", engine.row.name, batch), engine.row));
      series.samples = samples;
      series.per_iteration = {{"rows_per_second", static_cast<double>(batch)}};
    }
  }
  std::vector<Ending> endings = endings_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].timed() && !rows[i].check) {
      endings[i].kind = Ending::Kind::result;
      report.notes.push_back(rows[i].name + ": not verified: float64 would take too long");
    }
  }
  report.outcome = outcome_of(endings);
  report.data = {{"layers", study.network.widths()},
                 {"parameters", study.network.parameters()},
                 {"mode", study.training ? "train" : "forward"},
                 {"results", std::move(results)}};
  return report;
}

} // namespace diffbench::bench
