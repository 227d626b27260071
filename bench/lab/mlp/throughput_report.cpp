// What `mlp throughput` says: the curve, the best, and the smallest batch that is as good.
#include "mlp/throughput.hpp"
#include "result_file.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

const BatchPoint* find_point(const EngineThroughput& engine, std::int64_t batch) {
  const auto& curve = engine.search.curve;
  const auto found = std::ranges::find(curve, batch, &BatchPoint::batch);
  return found != curve.end() ? &*found : nullptr;
}

std::string format_curves(const ThroughputStudy& study) {
  TextTable::Cells header{"batch"};
  std::set<std::int64_t> batches;
  for (const EngineThroughput& engine : study.engines) {
    header.push_back(engine.row.name + ", rows/s");
    for (const BatchPoint& point : engine.search.curve) {
      batches.insert(point.batch);
    }
  }
  TextTable table(header);
  for (const std::int64_t batch : batches) {
    TextTable::Cells cells{std::to_string(batch)};
    for (const EngineThroughput& engine : study.engines) {
      const BatchPoint* const point = find_point(engine, batch);
      cells.push_back(point == nullptr ? "-"
                                       : format_figure(point->rows_per_second) +
                                             (point == engine.search.best() ? " *" : "  "));
    }
    table.add(std::move(cells));
  }
  return table.format();
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
  const BatchPoint& enough = *best->search.enough();
  std::string text = fmt::format("{} does most, {} rows a second in batches of {}", best->row.name,
                                 format_figure(top.rows_per_second), top.batch);
  if (enough.batch < top.batch) {
    text += fmt::format(", and at least 95 % of that from batches of {}", enough.batch);
  }
  const BatchPoint& one = best->search.curve.front();
  if (one.batch < enough.batch) {
    text += fmt::format("; one row at a time it is {} of it",
                        format_figure(100 * one.rows_per_second / top.rows_per_second) + " %");
  }
  return text + ".";
}

ordered_json engine_json(const EngineThroughput& engine) {
  ordered_json json = row_json(engine.row);
  json.erase("samples"); // they belong to batch sizes here
  json.erase("seconds_per_step");
  json.erase("threads_asked");
  json["verified_to"] = engine.verified_to;
  json["ended_by"] = engine.search.ended_by;
  json["curve"] = ordered_json::array();
  for (const BatchPoint& point : engine.search.curve) {
    const auto& samples = engine.samples.at(point.batch);
    ordered_json raw = ordered_json::array();
    for (const Sample& sample : samples) {
      raw.push_back({{"batches", sample.iterations}, {"seconds", number(sample.seconds)}});
    }
    json["curve"].push_back({{"batch", point.batch},
                             {"rows_per_second", number(point.rows_per_second)},
                             {"samples", std::move(raw)}});
  }
  const BatchPoint* const best = engine.search.best();
  json["best_batch"] = best != nullptr ? ordered_json(best->batch) : ordered_json(nullptr);
  json["best_rows_per_second"] =
      best != nullptr ? number(best->rows_per_second) : ordered_json(nullptr);
  json["enough_batch"] =
      best != nullptr ? ordered_json(engine.search.enough()->batch) : ordered_json(nullptr);
  return json;
}

} // namespace

LabReport throughput_report(const ThroughputStudy& study) {
  LabReport report;
  report.text =
      fmt::format("network {}, {}; * is the best\n\n{}", mlp::to_string(study.network),
                  study.training ? "training steps" : "answers (forward)", format_curves(study));
  report.sentence = sentence(study);
  report.interrupted = study.interrupted;
  std::vector<RaceRow> rows;
  ordered_json results = ordered_json::array();
  for (const EngineThroughput& engine : study.engines) {
    rows.push_back(engine.row);
    results.push_back(engine_json(engine));
    if (!engine.search.ended_by.empty()) {
      report.notes.push_back(
          fmt::format("{}: verified up to batches of {}; the search upwards was ended by {}",
                      engine.row.name, engine.verified_to, engine.search.ended_by));
    }
    for (const auto& [batch, samples] : engine.samples) {
      report.series.push_back(
          {.name = series_name(study.training ? "throughput/train" : "throughput", study.network,
                               fmt::format("{}/{}", engine.row.name, batch)),
           .threads = engine.row.provenance.threads,
           .samples = samples,
           .per_iteration = {{"rows_per_second", static_cast<double>(batch)}}});
    }
  }
  report.outcome = outcome_of(rows);
  report.data = {{"layers", study.network.widths()},
                 {"parameters", study.network.parameters()},
                 {"mode", study.training ? "train" : "forward"},
                 {"results", std::move(results)}};
  return report;
}

} // namespace diffbench::bench
