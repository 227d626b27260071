// What `mlp scaling` says: the table, the law, how many threads, and whether a GPU is worth it.
#include "columns.hpp"
#include "scaling/scaling_fit_report.hpp"
#include "scaling_law.hpp"
#include "statistics.hpp"
#include "thread_scaling.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace diffbench::bench {

namespace {

/// Held against the same engine on one thread; empty where one of the two has no time.
std::optional<double> speed_up(const ThreadStudy& study, const RaceRow& row) {
  const auto one = std::ranges::find_if(study.race.rows, [&](const RaceRow& other) {
    return other.engine == row.engine && other.threads == 1 && other.ranked();
  });
  return one != study.race.rows.end() && row.ranked() && row.threads != 0
             ? std::optional(one->step_seconds() / row.step_seconds())
             : std::nullopt;
}

struct ThreadLine {
  const ThreadStudy& study;
  const RaceRow& row;
  std::optional<double> faster = speed_up(study, row);
  bool oversubscribed = study.oversubscribed(row.threads);
};

/// Of rows that have a time; those with a key of all.
constexpr Column<ThreadLine> thread_columns[] = {
    {nullptr, "row", as_text,
     [](const ThreadLine& s) -> Value {
       return s.row.name + (s.oversubscribed ? " (oversubscribed)" : "");
     }},
    {nullptr, "time/step", as_seconds,
     [](const ThreadLine& s) -> Value { return s.row.step_seconds(); }},
    {nullptr, "spread", as_spread,
     [](const ThreadLine& s) -> Value {
       return iteration_quartiles(s.row.samples).relative_spread();
     }},
    {"oversubscribed", nullptr, as_text,
     [](const ThreadLine& s) -> Value { return s.oversubscribed; }},
    {"speedup", "speed-up", as_ratio, [](const ThreadLine& s) -> Value { return s.faster; }},
    {"efficiency", "efficiency", as_percent,
     [](const ThreadLine& s) { return s.faster ? Value(*s.faster / s.row.threads) : Value(); }},
    {"serial_fraction", "serial fraction", as_serial_fraction,
     [](const ThreadLine& s) {
       return s.faster && s.row.threads > 1
                  ? Value(serial_fraction(Scaling::strong, s.row.threads, *s.faster))
                  : Value();
     }},
    {nullptr, "rows/s", as_figure,
     [](const ThreadLine& s) -> Value {
       return static_cast<double>(s.study.batch) / s.row.step_seconds();
     }},
    {nullptr, "GFLOP/s", as_figure,
     [](const ThreadLine& s) -> Value {
       return s.study.network.flops_per_step(s.study.batch) / s.row.step_seconds() / 1e9;
     }},
    {nullptr, "peak memory", as_bytes,
     [](const ThreadLine& s) -> Value { return s.row.peak_bytes; }},
    {nullptr, "verified", as_text,
     [](const ThreadLine& s) { return s.row.is_roof ? Value() : Value("yes"); }},
};

/// The threaded engine that is asked about: that of the first row with a number of threads.
std::optional<SerialFraction> fit_of(const ThreadStudy& study, std::string& engine) {
  std::vector<ScalingPoint> points;
  for (const RaceRow& row : study.race.rows) {
    if (row.ranked() && !row.is_peer() && row.threads > 0 && !row.is_roof &&
        !study.oversubscribed(row.threads) && (engine.empty() || row.engine == engine)) {
      engine = row.engine;
      points.push_back({.threads = row.threads,
                        .cells = static_cast<double>(study.batch),
                        .seconds = iteration_seconds(row.samples)});
    }
  }
  if (points.empty() || points.front().threads != 1) {
    return std::nullopt;
  }
  return fit_serial_fraction(Scaling::strong, points);
}

GpuAnswer gpu_answer(const ThreadStudy& study) {
  const auto best_on = [&](DeviceKind device) {
    return fastest(std::span(study.race.rows),
                   [&](const RaceRow& row) { return row.device == device; });
  };
  const RaceRow* const gpu = best_on(DeviceKind::cuda);
  const RaceRow* const cpu = best_on(DeviceKind::cpu);
  if (gpu == nullptr || cpu == nullptr) {
    return no_gpu("no row ran on a GPU");
  }
  const double times = cpu->step_seconds() / gpu->step_seconds();
  return gpu_verdict(fmt::format("The GPU ({}) is {}", gpu->name,
                                 format_pace(times, "the best on the CPU (" + cpu->name + ")")),
                     times, {{"times_as_fast", times}});
}

std::string sentence(const ThreadStudy& study) {
  const RaceRow* const best = fastest(std::span(study.race.rows), [](const RaceRow& row) {
    return row.device == DeviceKind::cpu && !row.is_peer();
  });
  if (best == nullptr) {
    return "No row has both a verified result and a time.";
  }
  const auto faster = speed_up(study, *best);
  return best->threads > 1 && faster
             ? fmt::format(
                   "{} is the fastest on the CPU, {} times as fast as one thread ({} of {} "
                   "times).",
                   best->name, format_figure(*faster), format_percent(*faster / best->threads),
                   best->threads)
             : fmt::format(
                   "{} is the fastest on the CPU: more threads do not pay for this network.",
                   best->name);
}

} // namespace

LabReport thread_report(const ThreadStudy& study) {
  LabReport report;
  TextTable table = table_of(thread_columns);
  Value rows = Value::list();
  for (const RaceRow& row : study.race.rows) {
    const ThreadLine line{study, row};
    Value json = row_json(row);
    for (const Column<ThreadLine>& column : thread_columns) {
      if (column.key != nullptr) {
        json[column.key] = column.value(line);
      }
    }
    rows.push_back(std::move(json));
    if (row.ranked()) {
      add_row(table, thread_columns, line);
      report.series.push_back({.name = series_name("scaling", study.network, row.name),
                               .threads = row.provenance.threads,
                               .samples = row.samples});
    }
  }
  std::string fitted;
  const auto fit = fit_of(study, fitted);
  GpuAnswer gpu = gpu_answer(study);
  if (report.series.size() == 1) { // nothing to compare with
    table.drop_empty();
  }
  report.figures = fmt::format("{}, network {}, batches of {}\n\n{}", study.data,
                               mlp::to_string(study.network), study.batch, table.format());
  report.text =
      *report.figures + (fit ? "\n" + fitted + ": " + format_fit(Scaling::strong, *fit) : "");
  report.found_in_data = {"fit", "gpu"};
  report.sentence = sentence(study) + gpu.sentence;
  report.notes = troubles(study.race.rows);
  if (study.data == "made-up rows") {
    report.notes.emplace_back(
        "the rows are made up, of the size of MNIST's; diffbench get-data mnist gets the pictures");
  }
  report.interrupted = study.interrupted;
  report.outcome = outcome_of(endings_of(study.race.rows));
  report.data = {{"data", study.data},
                 {"layers", study.network.widths()},
                 {"parameters", study.network.parameters()},
                 {"batch", study.batch},
                 {"usable_cpus", study.usable_cpus},
                 {"cpu_quota", study.cpu_quota},
                 {"reference", study.race.reference},
                 {"results", std::move(rows)},
                 {"fit", fit_json(Scaling::strong, fit)},
                 {"gpu", std::move(gpu.json)}};
  return report;
}

} // namespace diffbench::bench
