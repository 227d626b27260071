// SPDX-License-Identifier: Apache-2.0
// What `mlp throughput` says: the curve, the best, and the smallest batch that is as good.
#include "columns.hpp"
#include "small_nets.hpp"
#include "study.hpp"
#include "throughput.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace diffbench::bench {

namespace {

/// What is read off the rates of an engine.
struct EngineReading {
  const EngineThroughput* engine = nullptr;
  std::vector<std::int64_t> sizes = {}; ///< of batches, ascending
  PacedRows batches = {.apart = true};  ///< of these, times of a row
  StudyRow best = {};                   ///< without samples: there is none
  std::int64_t best_batch = 0;
  std::int64_t enough_batch = 0; ///< 0: the samples leave that open
};

double rate(const StudyRow& row) { return 1 / row.step_seconds(); }
std::string rate_text(const StudyRow& row) { return format_figure(rate(row)); }
Value if_any(std::int64_t batch) { return batch > 0 ? Value(batch) : Value(); }

EngineReading read(const EngineThroughput& engine, const ThroughputStudy& all) {
  EngineReading reading{.engine = &engine};
  for (const auto& [batch, samples] : engine.samples) {
    StudyRow row = study_row(
        engine.row, series_of(all.training ? "throughput/train" : "throughput", all.network,
                              fmt::format("{}/{}", engine.row.name, batch), engine.row));
    row.samples = row.series.samples = samples;
    row.series.per_iteration = {{"rows_per_second", static_cast<double>(batch)}};
    row.accepted = !row.wrong();
    row.is_limit = !engine.row.ranked(); // shown, and not proved
    reading.batches.add(std::move(row), static_cast<double>(batch));
    reading.sizes.push_back(batch);
  }
  const auto batch_of = [&](const StudyRow* row) {
    return row == nullptr
               ? 0
               : reading.sizes[static_cast<std::size_t>(row - reading.batches.rows.data())];
  };
  const StudyRow* const best = reading.batches.first().best;
  reading.best_batch = batch_of(best);
  reading.best = best != nullptr ? *best : StudyRow();
  reading.enough_batch = batch_of(reading.batches.enough());
  return reading;
}

Study study_of(const std::vector<EngineReading>& readings) {
  std::map<std::int64_t, StudyPoint> points;
  for (const auto& reading : readings) {
    for (std::size_t i = 0; i < reading.sizes.size(); ++i) {
      StudyPoint& point = points[reading.sizes[i]];
      point.values = {std::to_string(reading.sizes[i])};
      point.rows.push_back(reading.batches.rows[i]);
    }
  }
  Study study{.axes = {"batch"}, .apart = true};
  for (auto& [batch, point] : points) {
    study.points.push_back(std::move(point));
  }
  return study;
}

std::string sentence(const std::vector<EngineReading>& readings) {
  PacedRows bests{.apart = true};
  for (const EngineReading& reading : readings) {
    if (reading.best_batch > 0) {
      bests.rows.push_back(reading.best);
    }
  }
  const Leader<StudyRow> found = bests.first();
  if (found.best == nullptr) {
    return "No engine has both a verified result and a rate.";
  }
  const EngineReading& best = *std::ranges::find_if(
      readings, [&](const EngineReading& each) { return each.best.name == found.best->name; });
  std::string text = fmt::format("{} is the fastest, {} rows a second in batches of {}",
                                 best.best.name, rate_text(best.best), best.best_batch);
  if (best.enough_batch == 0) {
    text += ", and how small a batch does 95 % of that is uncertain";
  } else if (best.enough_batch < best.best_batch) {
    text += fmt::format(", and at least 95 % of that from batches of {}", best.enough_batch);
  }
  if (const std::int64_t smallest = best.sizes.front();
      smallest < best.best_batch && smallest != best.enough_batch) {
    text += fmt::format("; in batches of {} it reaches {} of that", smallest,
                        format_percent(rate(best.batches.rows.front()) / rate(best.best)));
  }
  return text +
         (found.rival != nullptr ? order_doubt(found.ratio, found.rival->name + " (for a row)")
                                 : "") +
         ".";
}

Value engine_json(const EngineReading& reading) {
  const EngineThroughput& engine = *reading.engine;
  Value json = row_json(engine.row);
  json.erase("samples"); // they belong to batch sizes here
  json.erase("seconds_per_step");
  json.erase("threads_asked");
  json["verified_to"] = engine.verified_to;
  json["ended_by"] = engine.search.ended_by;
  Value curve = Value::list();
  for (std::size_t i = 0; i < reading.sizes.size(); ++i) {
    const StudyRow& row = reading.batches.rows[i];
    curve.push_back({{"batch", reading.sizes[i]},
                     {"rows_per_second", rate(row)},
                     {"samples", samples_json(row.series.samples, "batches")}});
  }
  json["curve"] = std::move(curve);
  json["best_batch"] = if_any(reading.best_batch);
  json["best_rows_per_second"] = reading.best_batch > 0 ? Value(rate(reading.best)) : Value();
  json["enough_batch"] = if_any(reading.enough_batch);
  return json;
}

} // namespace

LabReport throughput_report(const ThroughputStudy& all) {
  LabReport report;
  std::vector<EngineReading> readings;
  std::vector<RaceRow> rows;
  for (const EngineThroughput& engine : all.engines) {
    readings.push_back(read(engine, all));
    rows.push_back(engine.row);
  }
  const Study study = study_of(readings);
  const auto text = [&](Evidence figures) {
    return fmt::format("network {}, {}; rows a second\n\n{}{}{}", mlp::to_string(all.network),
                       all.training ? "training steps" : "answers (forward)",
                       pivot(study, figures, rate_text), format_small_nets(rows),
                       pivot_of("spread", study, spread_text));
  };
  report.text = text(Evidence::sound);
  report.figures = text(Evidence::disturbed);
  report.found_in_data = {"results[].best_batch", "results[].best_rows_per_second",
                          "results[].enough_batch"};
  report.pictures = {{"Rows a second, by the size of a batch", Figure::lines, "batch",
                      "rows_per_second", "row", "xy", "results.curve"}};
  report.sentence = sentence(readings);
  report.interrupted = all.interrupted;
  report.rows = Value::list();
  std::vector<Ending> endings = endings_of(rows);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const EngineThroughput& engine = all.engines[i];
    if (!engine.search.ended_by.empty()) {
      report.notes.push_back(
          fmt::format("{}: verified up to batches of {}; the search upwards was ended by {}",
                      engine.row.name, engine.verified_to, engine.search.ended_by));
    }
    for (std::size_t k = 0; k < readings[i].sizes.size(); ++k) {
      const StudyRow& row = readings[i].batches.rows[k];
      report.rows->push_back({{"row", row.name},
                              {"device", row.device},
                              {"batch", readings[i].sizes[k]},
                              {"rows_per_second", rate(row)},
                              {"verified", engine.row.ranked()},
                              {"verified_to", engine.verified_to}});
      report.series.push_back(row.series);
    }
    if (engine.row.timed() && !engine.row.check) {
      endings[i].kind = Ending::Kind::result;
      report.notes.push_back(engine.row.name + ": not verified: float64 would take too long");
    }
  }
  report.outcome = outcome_of(endings);
  report.data = {{"layers", all.network.widths()},
                 {"parameters", all.network.parameters()},
                 {"mode", all.training ? "train" : "forward"},
                 {"results", Value::each(readings, engine_json)}};
  return report;
}

} // namespace diffbench::bench
