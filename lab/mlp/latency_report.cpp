// SPDX-License-Identifier: Apache-2.0
// What `mlp latency` says: the times of each row, and what mistakes would have made of them.
#include "latency.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "diffbench/mlp/network.hpp"
#include "interrupt.hpp"
#include "pitfalls/pitfall.hpp"
#include "report_json.hpp"
#include "small_nets.hpp"
#include "statistics.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace diffbench::bench {

namespace {

std::string rows_of(const LatencyJob& job) {
  return job.batch == 1 ? "one row" : fmt::format("{} rows", job.batch);
}

std::string as_misreading(const Value& factor) {
  return factor_text(factor.number(), "no effect", "nothing left");
}

std::string sentence_of(const LatencyJob& job, std::span<const LatencyRow> rows) {
  const auto found = leader_apart(rows, std::mem_fn(&LatencyRow::timed), least_effect_in_run);
  const LatencyRow* const best = found.best;
  if (best == nullptr) {
    return "Nothing was timed.";
  }
  std::string text = fmt::format("{} answers {} in {} (median)", best->name, rows_of(job),
                                 format_seconds(best->step_seconds()));
  if (const auto p99 = summarize_latencies(best->latencies()).p99) {
    text += fmt::format(", 99 of 100 answers within {}", format_seconds(*p99));
  }
  const LatencyRow* const peer = fastest(
      rows, [](const LatencyRow& row) { return row.timed() && row.is_peer(); },
      &LatencyRow::step_seconds);
  if (peer != nullptr && peer != best) {
    text += fmt::format("; {} takes {}", peer->name, format_seconds(peer->step_seconds()));
  }
  const auto worst = std::ranges::max_element(best->misreadings, {}, &Misreading::factor);
  if (worst != best->misreadings.end() && effect_of(worst->factor()) == Effect::too_slow) {
    text += fmt::format("; the worst mistake, {}, would have reported {}", worst->name,
                        format_seconds(worst->mistaken));
  }
  return text + order_doubt(found) + ".";
}

struct MisreadingLine {
  const LatencyRow* row;
  const Misreading* mistake;
};

constexpr Column<MisreadingLine> misreading_columns[] = {
    {"name", "mistake", as_text, field<&MisreadingLine::mistake, &Misreading::name>},
    {nullptr, "engine", as_text, field<&MisreadingLine::row, &LatencyRow::name>},
    {"mistaken_seconds", "reads", as_seconds,
     field<&MisreadingLine::mistake, &Misreading::mistaken>},
    {"right_seconds", "right", as_seconds, field<&MisreadingLine::mistake, &Misreading::right>},
    {"factor", "effect", as_misreading, field<&MisreadingLine::mistake, &Misreading::factor>},
    {"mistake", nullptr, as_text, field<&MisreadingLine::mistake, &Misreading::mistake>},
    {"detail", nullptr, as_text, field<&MisreadingLine::mistake, &Misreading::detail>},
};

struct LatencyLine {
  const LatencyRow* row;
  std::optional<LatencySummary> times;
};

template <auto member>
Value of_times(const LatencyLine& line) {
  return field<&LatencyLine::times, member>(line);
}

constexpr Column<LatencyLine> latency_columns[] = {
    {"engine", "engine", as_text, field<&LatencyLine::row, &LatencyRow::name>},
    {"threads", "threads", as_text,
     field<&LatencyLine::row, &LatencyRow::provenance, &Provenance::threads>},
    {nullptr, "calls", as_text,
     [](const LatencyLine& s) { return s.times ? Value(s.row->samples.size()) : Value(); }},
    {"seconds.median", "median", as_seconds, of_times<&LatencySummary::median>},
    {"seconds.p99", "p99", as_seconds, of_times<&LatencySummary::p99>},
    {"seconds.min", "min", as_seconds, of_times<&LatencySummary::min>},
    {"seconds.max", "max", as_seconds, of_times<&LatencySummary::max>},
    {"seconds.mean", "mean", as_seconds, of_times<&LatencySummary::mean>},
    {"seconds.deviation", "deviation", as_seconds, of_times<&LatencySummary::deviation>},
    {"verified.error", "error",
     [](const Value& error) { return fmt::format("{:.1g}", error.number()); },
     field<&LatencyLine::row, &LatencyRow::output_error>},
};

Value line_json(const LatencyLine& line) {
  const LatencyRow& row = *line.row;
  Value json = object_of(latency_columns, line);
  json["width"] = width_json(row.samples);
  if (disturbed(row.samples) && line.times) { // the longest call may be of their making
    const double low = json["width"]["low"].number() * line.times->median / line.times->max;
    json["seconds"]["max_width"] = width_json(Width{.low = low, .high = 1 / low});
  }
  json["device"] = row.device;
  json["status"] = row.status;
  json["reason"] = or_null(row.reason);
  json["verified"]["most_error"] = most_output_error;
  json["verified"]["small_nets"] = small_nets_json(row.small_nets);
  json["provenance"] = provenance_json(row.provenance);
  json["provenance"].erase("threads"); // here they are beside it
  if (!line.times) {
    json.erase("seconds");
    return json;
  }
  const Histogram histogram = histogram_of(row.latencies());
  json["histogram"] = {{"edges", histogram.edges}, {"counts", histogram.counts}};
  json["clock_cost"] = row.clock_cost;
  json["misreadings"] = Value::each(row.misreadings, [&](const Misreading& mistake) {
    return object_of(misreading_columns, {&row, &mistake});
  });
  return json;
}

} // namespace

LabReport latency_report(const LatencyJob& job, std::span<const LatencyRow> rows) {
  LabReport report;
  report.data = {{"layers", job.network.widths()},
                 {"parameters", job.network.parameters()},
                 {"batch", job.batch},
                 {"repetitions", job.repetitions},
                 {"results", Value::list()}};
  report.columns = heads_of(latency_columns);
  report.pictures = {
      {"Latency of a call", Figure::bars, "engine", "seconds.median seconds.p99", "", "y"}};
  TextTable table = table_of(latency_columns);
  TextTable mistakes = table_of(misreading_columns);
  std::string meanings; // of the mistakes, each once
  for (const LatencyRow& row : rows) {
    const LatencyLine line{
        &row, row.timed() ? std::optional(summarize_latencies(row.latencies())) : std::nullopt};
    report.data["results"].push_back(line_json(line));
    if (row.status == Status::ok) {
      add_row(table, latency_columns, line);
    } else {
      report.notes.push_back(fmt::format("{}: {}", row.name, row.reason));
    }
    if (line.times) {
      report.series.push_back(
          series_of("latency", job.network, fmt::format("{}/{}", job.batch, row.name), row));
    }
    for (const Misreading& mistake : row.misreadings) {
      add_row(mistakes, misreading_columns, {&row, &mistake});
      const std::string meaning = fmt::format("  {}: {}\n", mistake.name, mistake.mistake);
      if (meanings.find(meaning) == std::string::npos) {
        meanings += meaning;
      }
    }
  }
  report.text = fmt::format("network {} with {} parameters, {} a call, float32\n\n{}",
                            mlp::to_string(job.network), job.network.parameters(), rows_of(job),
                            table.format() + format_small_nets(rows));
  report.figures = report.text;
  report.found_in_data = {"results[].misreadings"};
  if (!meanings.empty()) {
    report.text += fmt::format("\n{}\nWhat each mistake takes for the latency\n{}",
                               mistakes.format(), meanings);
  }
  report.sentence = sentence_of(job, rows);
  report.interrupted = interrupted();
  report.outcome = outcome_of(endings_of(rows));
  return report;
}

} // namespace diffbench::bench
