// SPDX-License-Identifier: Apache-2.0
// The columns of a comparison's rows: its table, the rows of its JSON, its CSV.
#include "columns.hpp"
#include "irregularity.hpp"
#include "metrics.hpp"
#include "report_json.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <string>

namespace diffbench::bench {

namespace {

/// A row with what its figures depend on.
struct Shown {
  const ComparisonResult& result;
  const Row& row;
  std::optional<Metrics> figures;
};

Value moments_json(const RowMoments& moments) {
  const auto moment_json = [](const Moment& moment) -> Value {
    return {{"lane", moment.lane},
            {"phase", moment.phase},
            {"begin", moment.begin},
            {"end", moment.end}};
  };
  return {{"cold", Value::each(moments.cold, moment_json)},
          {"warm", Value::each(moments.warm, moment_json)}};
}

Value phases_json(const Phases& phases) {
  Value json;
  for (const NamedPhase& phase : named_phases) {
    json[phase.name] = phases.*phase.member;
  }
  json["unexplained"] = phases.unexplained;
  json["wall"] = phases.wall;
  return json;
}

Value busy_json(const BusyTimes& busy) {
  return {{"h2d", busy.h2d}, {"compute", busy.compute}, {"d2h", busy.d2h}};
}

/// "20x1000", and how many were put away, since others had interrupted them.
std::string samples_text(const std::vector<Sample>& samples) {
  int retaken = 0;
  for (const Sample& sample : samples) {
    retaken += sample.retaken;
  }
  return fmt::format("{}x{}{}", samples.size(), samples.front().iterations,
                     retaken > 0 ? fmt::format(", {} again", retaken) : "");
}

Value irregularities_json(const Row& row) { return irregularities(iteration_seconds(row.samples)); }

template <auto... parts>
Value figure(const Shown& shown) {
  return field<&Shown::figures, parts...>(shown);
}
template <auto... parts>
Value of_row(const Shown& shown) {
  return field<parts...>(shown.row);
}
template <auto member>
Value unless_zero(const Shown& shown) {
  return shown.row.*member > 0 ? Value(shown.row.*member) : Value();
}

Value threads(const Shown& shown) {
  // 0: nobody knows, as of a user's own program.
  return shown.row.verification && shown.row.provenance.threads > 0
             ? Value(shown.row.provenance.threads)
             : Value();
}

/// Fewer digits from 10 % on, where nobody compares them.
std::string copy_share(const Shown& shown) {
  const auto share = shown.figures ? shown.figures->fraction_of_copy : std::nullopt;
  return share ? fmt::format("{:.{}f} %", 100 * *share, *share < 0.1 ? 1 : 0) : no_value;
}

/// A table that is too wide does without it.
constexpr Column<Shown> if_wide(Column<Shown> column) {
  column.optional = true;
  return column;
}

constexpr Column<Shown> columns[] = {
    {"backend", "backend", as_text, of_row<&Row::name>},
    {"device", nullptr, as_text, of_row<&Row::device>},
    {"kernel", nullptr, as_text, of_row<&Row::kernel>},
    {"roundtrip_every", nullptr, as_text, unless_zero<&Row::roundtrip_every>},
    {"snapshot_every", nullptr, as_text, unless_zero<&Row::snapshot_every>},
    {"transfer", nullptr, as_text,
     [](const Shown& s) { return s.row.transfer ? Value(to_string(*s.row.transfer)) : Value(); }},
    {"overlapped", nullptr, as_text, of_row<&Row::overlapped>},
    {"status", nullptr, as_text, of_row<&Row::status>},
    {"reason", nullptr, as_text, of_row<&Row::reason, or_null>},
    {"provenance", nullptr, as_text,
     [](const Shown& s) {
       return s.row.verification ? provenance_json(s.row.provenance) : Value();
     }},
    {"verified", nullptr, as_text, of_row<&Row::verification, verification_json>},
    {"threads", "threads", as_text, threads,
     [](const Shown& s) { return s.row.on_device() ? no_value : as_text(threads(s)); }},
    {"seconds_per_iteration", "time/iter", as_seconds, figure<&Metrics::time, &Quartiles::median>},
    {nullptr, "spread", as_spread, of_row<spread_value>},
    if_wide({nullptr, "samples", as_text,
             [](const Shown& s) {
               return s.row.samples.empty() ? Value() : Value(samples_text(s.row.samples));
             }}),
    if_wide({nullptr, "GCell/s", as_figure,
             [](const Shown& s) {
               return s.figures ? Value(s.figures->cells_per_second / 1e9) : Value();
             }}),
    if_wide({nullptr, "GB/s", as_figure,
             [](const Shown& s) {
               return s.figures ? Value(s.figures->bytes_per_second / 1e9) : Value();
             }}),
    {"fraction_of_copy", "of copy", as_text, figure<&Metrics::fraction_of_copy>, copy_share},
    {"speedup_vs_baseline", "vs baseline", as_ratio, figure<&Metrics::vs_baseline>},
    if_wide({"speedup_vs_best_cpu", "vs best CPU", as_ratio, figure<&Metrics::vs_best_cpu>}),
    {nullptr, "verified", as_text,
     [](const Shown& s) -> Value { return format_verified(s.result, s.row); }},
    {"seconds_per_iteration_quartiles.min", nullptr, as_text,
     figure<&Metrics::time, &Quartiles::min>},
    {"seconds_per_iteration_quartiles.q1", nullptr, as_text,
     figure<&Metrics::time, &Quartiles::q1>},
    {"seconds_per_iteration_quartiles.q3", nullptr, as_text,
     figure<&Metrics::time, &Quartiles::q3>},
    {"seconds_per_iteration_quartiles.max", nullptr, as_text,
     figure<&Metrics::time, &Quartiles::max>},
    {"seconds_per_iteration_interval", nullptr, as_text,
     figure<&Metrics::time_interval, interval_json>},
    {"width", nullptr, as_text, [](const Shown& s) { return width_json(s.row.samples); }},
    {"irregularities", nullptr, as_text, of_row<irregularities_json>},
    {"cells_per_second", nullptr, as_text, figure<&Metrics::cells_per_second>},
    {"bytes_per_second", nullptr, as_text, figure<&Metrics::bytes_per_second>},
    {"speedup_vs_baseline_interval", nullptr, as_text,
     figure<&Metrics::vs_baseline_interval, interval_json>},
    {"samples_seconds", nullptr, as_text,
     [](const Shown& s) { // each as of so many iterations as the first one has
       return Value::each(s.row.samples, [&](const Sample& sample) -> Value {
         return sample.seconds_per_iteration() *
                static_cast<double>(s.row.samples.front().iterations);
       });
     }},
    {"iterations_per_sample", nullptr, as_text,
     [](const Shown& s) {
       return s.row.samples.empty() ? Value() : Value(s.row.samples.front().iterations);
     }},
    {"setup_seconds", nullptr, as_text, of_row<&Row::setup_seconds>},
    {"phases", nullptr, as_text, of_row<&Row::warm, phases_json>},
    {"busy", nullptr, as_text, of_row<&Row::warm, &Phases::busy, busy_json>},
    {"end_to_end.cold_seconds", nullptr, as_text, of_row<&Row::cold, &Phases::wall>},
    {"end_to_end.warm_seconds", nullptr, as_text, of_row<&Row::warm, &Phases::wall>},
    {"end_to_end.cold_phases", nullptr, as_text, of_row<&Row::cold, phases_json>},
    {"end_to_end.cold_busy", nullptr, as_text, of_row<&Row::cold, &Phases::busy, busy_json>},
    {"speedups", nullptr, as_text,
     [](const Shown& s) {
       return s.row.on_device()
                  ? Value{{"vs_baseline",
                           speedups_json(s.result, s.row, s.result.find(s.result.baseline))},
                          {"vs_best_cpu", speedups_json(s.result, s.row, best_cpu(s.result))}}
                  : Value();
     }},
    {"peak_host_bytes", nullptr, as_text, of_row<&Row::peak_host_bytes>},
    {"peak_device_bytes", nullptr, as_text, of_row<&Row::peak_device_bytes>},
    {"telemetry", nullptr, as_text, [](const Shown& s) { return telemetry_json(s.row.telemetry); }},
    {"moments", nullptr, as_text, of_row<&Row::moments, moments_json>},
};

/// A row as a whole: setup, cold and warm run, memory.
constexpr Column<Row> cost_columns[] = {
    {nullptr, "end to end", as_text, field<&Row::name>},
    {nullptr, "setup", as_seconds, field<&Row::setup_seconds>},
    {nullptr, "cold run", as_seconds, field<&Row::cold, &Phases::wall>},
    {nullptr, "warm run", as_seconds, field<&Row::warm, &Phases::wall>},
    {nullptr, "peak memory", as_bytes, field<&Row::peak_host_bytes>},
};

} // namespace

Value row_heads() { return heads_of(columns); }

Value row_json(const ComparisonResult& result, const Row& row) {
  return object_of(columns, Shown{result, row, metrics(result, row)});
}

std::string format_figures(const ComparisonResult& result) {
  TextTable table = table_of(columns);
  for (const Row* row : fastest_last(result)) {
    add_row(table, columns, Shown{result, *row, metrics(result, *row)});
  }
  table.drop_empty();
  return table.format();
}

std::string format_costs(const ComparisonResult& result) {
  TextTable table = table_of(cost_columns);
  bool any = false;
  for (const Row* row : fastest_last(result)) {
    if (row->setup_seconds) {
      add_row(table, cost_columns, *row);
      any = true;
    }
  }
  table.drop_empty();
  return any ? "\n" + table.format() : "";
}

Value csv_lines(const ComparisonResult& result) {
  const Problem& problem = result.problem;
  return Value::each(result.rows, [&](const Row& row) {
    return object_of(columns, Shown{result, row, metrics(result, row)},
                     {{"nx", problem.nx},
                      {"ny", problem.ny},
                      {"dtype", problem.dtype},
                      {"boundary", problem.boundary},
                      {"iterations", result.iterations},
                      {"samples", row.samples.size()}});
  });
}

} // namespace diffbench::bench
