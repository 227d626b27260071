// What `mlp scaling` says: the table, the law, how many threads, and whether a GPU is worth it.
#include "mlp/thread_scaling.hpp"
#include "scaling_fit_report.hpp"
#include "scaling_law.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// Of the same racer on one thread; nullptr where that has no time.
const RaceRow* one_thread(const ThreadStudy& study, const RaceRow& row) {
  const auto one = std::ranges::find_if(study.race.rows, [&](const RaceRow& other) {
    return other.racer == row.racer && other.threads == 1 && other.ranked();
  });
  return one != study.race.rows.end() ? &*one : nullptr;
}

std::optional<double> speed_up(const ThreadStudy& study, const RaceRow& row) {
  const RaceRow* const one = one_thread(study, row);
  if (one == nullptr || !row.ranked() || row.threads == 0) {
    return std::nullopt;
  }
  return one->step_seconds() / row.step_seconds();
}

std::string verified_text(const RaceRow& row) {
  return row.is_roof ? no_value : row.check && row.check->ok() ? "yes" : "NO";
}

std::string format_table(const ThreadStudy& study) {
  TextTable table({"row", "time/step", "spread", "speed-up", "efficiency", "serial fraction",
                   "rows/s", "GFLOP/s", "peak memory", "verified"});
  for (const RaceRow& row : study.race.rows) {
    if (!row.ranked()) {
      continue;
    }
    const Quartiles time = iteration_quartiles(row.samples);
    const auto faster = speed_up(study, row);
    const bool over = study.oversubscribed(row.threads);
    table.add({row.name + (over ? " (oversubscribed)" : ""), format_seconds(time.median),
               fmt::format("+-{:.1f} %", 100 * time.relative_spread()),
               faster ? format_figure(*faster) + "x" : no_value,
               faster ? format_percent(*faster / row.threads) : no_value,
               faster && row.threads > 1
                   ? format_percent(serial_fraction(Scaling::strong, row.threads, *faster))
                   : no_value,
               format_figure(static_cast<double>(study.batch) / time.median),
               format_figure(study.network.flops_per_step(study.batch) / time.median / 1e9),
               row.peak_bytes
                   ? fmt::format("{} MB", format_figure(static_cast<double>(*row.peak_bytes) / 1e6))
                   : no_value,
               verified_text(row)});
  }
  return table.format();
}

/// The threaded engine that is asked about: that of the first row with a number of threads.
std::optional<SerialFraction> fit_of(const ThreadStudy& study, std::string& racer) {
  std::vector<ScalingPoint> points;
  for (const RaceRow& row : study.race.rows) {
    if (row.ranked() && !row.is_peer() && row.threads > 0 && !row.is_roof &&
        !study.oversubscribed(row.threads) && (racer.empty() || row.racer == racer)) {
      racer = row.racer;
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

struct GpuSentence {
  std::string sentence;
  ordered_json json;
};

GpuSentence gpu_answer(const ThreadStudy& study) {
  const auto best_on = [&](std::string_view device) {
    return fastest(std::span(study.race.rows),
                   [&](const RaceRow& row) { return row.device == device; });
  };
  const RaceRow* const gpu = best_on("cuda");
  const RaceRow* const cpu = best_on("cpu");
  if (gpu == nullptr || cpu == nullptr) {
    return {"Whether a GPU is worth it stays open: no row ran on one.",
            {{"status", "absent"}, {"reason", "no row ran on a GPU"}}};
  }
  const double times = cpu->step_seconds() / gpu->step_seconds();
  return {
      fmt::format("The GPU ({}) is {} times as fast as the best on the CPU ({}): {} by the rule "
                  "of {} times.",
                  gpu->name, format_figure(times), cpu->name,
                  times >= gpu_worth_it ? "worth it" : "not worth it", gpu_worth_it),
      {{"status", "ok"},
       {"times_as_fast", number(times)},
       {"bar", gpu_worth_it},
       {"worth_it", times >= gpu_worth_it}}};
}

std::string sentence(const ThreadStudy& study) {
  const RaceRow* const best = fastest(std::span(study.race.rows), [](const RaceRow& row) {
    return row.device == "cpu" && !row.is_peer();
  });
  if (best == nullptr) {
    return "No row has both a verified result and a time. ";
  }
  const auto faster = speed_up(study, *best);
  return best->threads > 1 && faster
             ? fmt::format(
                   "{} is the fastest on the CPU, {} times what one thread does ({} of {} "
                   "times). ",
                   best->name, format_figure(*faster), format_percent(*faster / best->threads),
                   best->threads)
             : fmt::format(
                   "{} is the fastest on the CPU: more threads do not pay for this network. ",
                   best->name);
}

ordered_json row_with_scaling(const ThreadStudy& study, const RaceRow& row) {
  ordered_json json = row_json(row);
  const auto faster = speed_up(study, row);
  json["oversubscribed"] = study.oversubscribed(row.threads);
  json["speedup"] = number(faster);
  json["efficiency"] = faster ? number(*faster / row.threads) : ordered_json(nullptr);
  json["serial_fraction"] = faster && row.threads > 1
                                ? number(serial_fraction(Scaling::strong, row.threads, *faster))
                                : ordered_json(nullptr);
  return json;
}

} // namespace

LabReport thread_report(const ThreadStudy& study) {
  std::string fitted;
  const auto fit = fit_of(study, fitted);
  const GpuSentence gpu = gpu_answer(study);
  LabReport report;
  report.text = fmt::format("{}, network {}, batches of {}\n\n{}", study.data,
                            mlp::to_string(study.network), study.batch, format_table(study)) +
                (fit ? "\n" + fitted + ": " + format_fit(Scaling::strong, *fit) : "");
  report.sentence = sentence(study) + gpu.sentence;
  report.notes = troubles(study.race.rows);
  if (study.data == "made-up rows") {
    report.notes.emplace_back(
        "the rows are made up, of the size of MNIST's; scripts/get-data mnist gets the pictures");
  }
  report.interrupted = study.interrupted;
  report.outcome = outcome_of(study.race.rows);
  ordered_json rows = ordered_json::array();
  for (const RaceRow& row : study.race.rows) {
    rows.push_back(row_with_scaling(study, row));
    if (row.ranked()) {
      report.series.push_back({.name = series_name("scaling", study.network, row.name),
                               .threads = row.provenance.threads,
                               .samples = row.samples});
    }
  }
  report.data = {{"data", study.data},
                 {"layers", study.network.widths()},
                 {"parameters", study.network.parameters()},
                 {"batch", study.batch},
                 {"usable_cpus", study.usable_cpus},
                 {"cpu_quota", number(study.cpu_quota)},
                 {"reference", study.race.reference},
                 {"results", std::move(rows)},
                 {"fit", fit_json(Scaling::strong, fit)},
                 {"gpu", gpu.json}};
  return report;
}

} // namespace diffbench::bench
