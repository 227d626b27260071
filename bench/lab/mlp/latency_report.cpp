#include "mlp/latency_report.hpp"

#include "diffbench/mlp/network.hpp"
#include "interrupt.hpp"
#include "mlp/forward_check.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

bool timed(const LatencyRow& row) { return row.status == Status::ok && !row.samples.empty(); }

std::string latency_table(std::span<const LatencyRow> rows) {
  TextTable table(
      {"engine", "threads", "calls", "median", "p99", "min", "max", "mean", "deviation", "error"});
  for (const LatencyRow& row : rows) {
    if (row.status != Status::ok) {
      continue;
    }
    TextTable::Cells cells{row.name, std::to_string(row.provenance.threads)};
    if (timed(row)) {
      const LatencySummary s = summarize_latencies(row.samples);
      cells.push_back(std::to_string(row.samples.size()));
      cells.push_back(format_seconds(s.median));
      cells.push_back(s.p99 ? format_seconds(*s.p99) : "-");
      for (const double seconds : {s.min, s.max, s.mean, s.deviation}) {
        cells.push_back(format_seconds(seconds));
      }
    } else {
      cells.insert(cells.end(), 7, "-");
    }
    cells.push_back(fmt::format("{:.1g}", row.output_error));
    table.add(std::move(cells));
  }
  return table.format();
}

/// "12.3x too slow"; a factor near 1 is none.
std::string effect_of(const Misreading& misreading) {
  const double factor = misreading.factor();
  if (factor >= 1.1) {
    return format_figure(factor) + "x too slow";
  }
  if (factor > 0 && factor <= 1 / 1.1) {
    return format_figure(1 / factor) + "x too fast";
  }
  return factor > 0 ? "no effect" : "nothing left";
}

/// The mistakes of all engines, then what each of them is.
std::string misreading_table(std::span<const LatencyRow> rows) {
  TextTable table({"mistake", "engine", "reads", "right", "so"});
  std::vector<std::string> meanings;
  for (const LatencyRow& row : rows) {
    for (const Misreading& m : row.misreadings) {
      table.add({std::string(m.name), row.name, format_seconds(m.mistaken), format_seconds(m.right),
                 effect_of(m)});
      const std::string meaning = fmt::format("{}: {}", m.name, m.mistake);
      if (std::ranges::find(meanings, meaning) == meanings.end()) {
        meanings.push_back(meaning);
      }
    }
  }
  return meanings.empty() ? ""
                          : fmt::format("\n{}\nWhat each takes for the latency\n  {}\n",
                                        table.format(), fmt::join(meanings, "\n  "));
}

double median_latency(const LatencyRow& row) { return median_of(row.samples); }

/// nullptr when none that `admits` was timed.
template <typename Admits>
const LatencyRow* fastest(std::span<const LatencyRow> rows, Admits admits) {
  const LatencyRow* best = nullptr;
  for (const LatencyRow& row : rows) {
    if (timed(row) && admits(row) &&
        (best == nullptr || median_latency(row) < median_latency(*best))) {
      best = &row;
    }
  }
  return best;
}

std::string sentence_of(const LatencyJob& job, std::span<const LatencyRow> rows) {
  const LatencyRow* const best = fastest(rows, [](const LatencyRow&) { return true; });
  if (best == nullptr) {
    return "Nothing was timed.";
  }
  std::string text = fmt::format("{} answers {} in {} (median)", best->name,
                                 job.batch == 1 ? "one row" : fmt::format("{} rows", job.batch),
                                 format_seconds(median_latency(*best)));
  if (const auto p99 = summarize_latencies(best->samples).p99) {
    text += fmt::format(", 99 of 100 times within {}", format_seconds(*p99));
  }
  const LatencyRow* const peer = fastest(rows, [](const LatencyRow& row) { return row.is_peer(); });
  if (peer != nullptr && peer != best) {
    text += fmt::format("; {} takes {}", peer->name, format_seconds(median_latency(*peer)));
  }
  const auto worst = std::ranges::max_element(best->misreadings, {}, &Misreading::factor);
  if (worst != best->misreadings.end() && worst->factor() >= 1.1) {
    text += fmt::format("; the worst of the mistakes, {}, would have reported {}", worst->name,
                        format_seconds(worst->mistaken));
  }
  return text + ".";
}

ordered_json row_json(const LatencyRow& row) {
  ordered_json json{
      {"engine", row.name},
      {"device", to_string(row.device)},
      {"status", to_string(row.status)},
      {"reason", row.reason.empty() ? ordered_json(nullptr) : ordered_json(row.reason)},
      {"threads", row.provenance.threads},
      {"verified", {{"error", number(row.output_error)}, {"most_error", most_output_error}}}};
  for (const auto& [name, value] : row.provenance.details) {
    json["provenance"][name] = value;
  }
  if (!timed(row)) {
    return json;
  }
  const LatencySummary s = summarize_latencies(row.samples);
  json["seconds"] = {{"mean", number(s.mean)},     {"deviation", number(s.deviation)},
                     {"median", number(s.median)}, {"p99", number(s.p99)},
                     {"min", number(s.min)},       {"max", number(s.max)}};
  json["clock_cost"] = number(row.clock_cost);
  Histogram histogram = histogram_of(row.samples);
  json["histogram"] = {{"edges", std::move(histogram.edges)},
                       {"counts", std::move(histogram.counts)}};
  json["misreadings"] = ordered_json::array();
  for (const Misreading& m : row.misreadings) {
    json["misreadings"].push_back({{"name", m.name},
                                   {"mistake", m.mistake},
                                   {"mistaken_seconds", number(m.mistaken)},
                                   {"right_seconds", number(m.right)},
                                   {"factor", number(m.factor())},
                                   {"detail", m.detail}});
  }
  return json;
}

SampleSeries series_of(const LatencyJob& job, const LatencyRow& row) {
  SampleSeries series{
      .name = fmt::format("mlp/latency/{}/{}/{}", fmt::join(job.network.widths(), "-"), job.batch,
                          row.name),
      .threads = row.provenance.threads,
      .samples = {}};
  for (const double seconds : row.samples) {
    series.samples.push_back({.iterations = 1, .seconds = seconds, .cpu_seconds = std::nullopt});
  }
  return series;
}

} // namespace

LabReport latency_report(const LatencyJob& job, std::span<const LatencyRow> rows) {
  LabReport report;
  report.text = fmt::format("network {} with {} parameters, {} a call, float32\n\n{}{}",
                            mlp::to_string(job.network), job.network.parameters(),
                            job.batch == 1 ? "one row" : fmt::format("{} rows", job.batch),
                            latency_table(rows), misreading_table(rows));
  report.data = {{"layers", job.network.widths()},
                 {"parameters", job.network.parameters()},
                 {"batch", job.batch},
                 {"repetitions", job.repetitions},
                 {"results", ordered_json::array()}};
  for (const LatencyRow& row : rows) {
    report.data["results"].push_back(row_json(row));
    if (row.status != Status::ok) {
      report.notes.push_back(fmt::format("{}: {}", row.name, row.reason));
    }
    if (row.status == Status::failed && report.outcome.exit_code != exit_not_verified) {
      report.outcome = {row.wrong ? exit_not_verified : exit_error,
                        fmt::format("{}: {}", row.name, row.reason)};
    }
    if (timed(row)) {
      report.series.push_back(series_of(job, row));
    }
  }
  report.sentence = sentence_of(job, rows);
  report.interrupted = interrupted();
  return report;
}

} // namespace diffbench::bench
