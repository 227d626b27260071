// What `mlp throughput` says: the curve, the best, and the smallest batch that is as good.
#include "columns.hpp"
#include "conclusion.hpp"
#include "statistics.hpp"
#include "throughput.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace diffbench::bench {

namespace {

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
      const std::vector<Sample>& samples = engine.samples.at(point.batch);
      cells.push_back(samples.size() > 1 ? as_spread(iteration_quartiles(samples).relative_spread())
                                         : no_value);
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
  std::string text = fmt::format("{} is the fastest, {} rows a second in batches of {}",
                                 best->row.name, format_figure(top.rows_per_second), top.batch);
  if (enough.batch < top.batch) {
    text += fmt::format(", and at least 95 % of that from batches of {}", enough.batch);
  }
  const BatchPoint& one = best->search.curve.front();
  if (one.batch < enough.batch) {
    text += fmt::format("; one row at a time it reaches {} of that",
                        format_percent(one.rows_per_second / top.rows_per_second));
  }
  return text + ".";
}

Value engine_json(const EngineThroughput& engine) {
  Value json = row_json(engine.row);
  json.erase("samples"); // they belong to batch sizes here
  json.erase("seconds_per_step");
  json.erase("threads_asked");
  json["verified_to"] = engine.verified_to;
  json["ended_by"] = engine.search.ended_by;
  json["curve"] = Value::list();
  for (const BatchPoint& point : engine.search.curve) {
    Value raw = Value::list();
    for (const Sample& sample : engine.samples.at(point.batch)) {
      raw.push_back({{"batches", sample.iterations}, {"seconds", sample.seconds}});
    }
    json["curve"].push_back({{"batch", point.batch},
                             {"rows_per_second", point.rows_per_second},
                             {"samples", std::move(raw)}});
  }
  const BatchPoint* const best = engine.search.best();
  json["best_batch"] = best != nullptr ? Value(best->batch) : Value();
  json["best_rows_per_second"] = best != nullptr ? Value(best->rows_per_second) : Value();
  json["enough_batch"] = best != nullptr ? Value(engine.search.enough()->batch) : Value();
  return json;
}

} // namespace

LabReport throughput_report(const ThroughputStudy& study) {
  LabReport report;
  const auto text = [&](Evidence figures) {
    return fmt::format("network {}, {}{}\n\n{}", mlp::to_string(study.network),
                       study.training ? "training steps" : "answers (forward)",
                       concludes(figures) ? "; * is the best" : "", format_curves(study, figures));
  };
  report.text = text(Evidence::sound);
  report.figures = text(Evidence::disturbed);
  report.found_in_data = {"results[].best_batch", "results[].best_rows_per_second",
                          "results[].enough_batch"};
  report.sentence = sentence(study);
  report.interrupted = study.interrupted;
  std::vector<RaceRow> rows;
  Value results = Value::list();
  report.rows = Value::list();
  for (const EngineThroughput& engine : study.engines) {
    rows.push_back(engine.row);
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
      report.series.push_back(
          {.name = series_name(study.training ? "throughput/train" : "throughput", study.network,
                               fmt::format("{}/{}", engine.row.name, batch)),
           .threads = engine.row.provenance.threads,
           .samples = samples,
           .per_iteration = {{"rows_per_second", static_cast<double>(batch)}}});
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
