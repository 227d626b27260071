// What `diffbench scaling` says: the table, the laws, how many threads, and whether a GPU pays.
#include "columns.hpp"
#include "report_json.hpp"
#include "scaling.hpp"
#include "scaling_fit_report.hpp"
#include "speedup.hpp"
#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace diffbench::bench {

namespace {

/// A line of the table. What it is against one thread is known only where both count.
struct ScalingLine : ScalingEntry {
  bool oversubscribed = false;
  std::string verified;
  std::optional<double> speed_up = {};
  std::optional<double> efficiency = {};
  std::optional<double> serial_fraction = {}; ///< none of one thread
};

ScalingLine line_of(const ScalingStudy& study, const ScalingEntry& entry) {
  ScalingLine line{entry, study.oversubscribed(entry.threads),
                   format_verified(study.frame, entry.row)};
  const ScalingEntry& one = study.entries.front();
  if (one.threads == 1 && one.counts() && entry.counts()) {
    line.speed_up = entry.throughput() / one.throughput();
    line.efficiency = *line.speed_up / entry.threads;
    if (entry.threads > 1) {
      line.serial_fraction = serial_fraction(study.scaling, entry.threads, *line.speed_up);
    }
  }
  return line;
}

std::string format_threads(const ScalingLine& line) {
  const bool others = line.row.verification && line.row.provenance.threads != line.threads;
  return std::to_string(line.threads) +
         (others                ? fmt::format(" (ran on {})", line.row.provenance.threads)
          : line.oversubscribed ? " (oversubscribed)"
                                : "");
}

constexpr Column<ScalingLine> scaling_columns[] = {
    {"threads_asked", "threads", as_text, field<&ScalingLine::threads>, format_threads},
    {nullptr, "grid", as_text,
     [](const ScalingLine& line) -> Value {
       return fmt::format("{}x{}", line.problem.nx, line.problem.ny);
     }},
    {"nx", nullptr, as_text, field<&ScalingLine::problem, &Problem::nx>},
    {"ny", nullptr, as_text, field<&ScalingLine::problem, &Problem::ny>},
    {"oversubscribed", nullptr, as_text, field<&ScalingLine::oversubscribed>},
    {nullptr, "time/iter", as_seconds, field<&ScalingLine::row, median_value>},
    {nullptr, "spread", as_spread, field<&ScalingLine::row, spread_value>},
    {"speedup", "speed-up", as_ratio, field<&ScalingLine::speed_up>},
    {"efficiency", "efficiency", as_percent, field<&ScalingLine::efficiency>},
    {"serial_fraction", "serial fraction", as_serial_fraction,
     field<&ScalingLine::serial_fraction>},
    {nullptr, "GCell/s", as_figure,
     [](const ScalingLine& l) { return l.row.ranked() ? Value(l.throughput() / 1e9) : Value(); }},
    {nullptr, "peak memory", as_bytes, field<&ScalingLine::row, &Row::peak_host_bytes>},
    {nullptr, "verified", as_text, field<&ScalingLine::verified>},
};

std::string format_table(const ScalingStudy& study) {
  TextTable table = table_of(scaling_columns);
  table.rename(0, study.backend + ", threads");
  if (study.scaling == Scaling::weak) {
    table.rename(4, "scaled speed-up");
  }
  for (const ScalingEntry& entry : study.entries) {
    if (entry.row.status != Status::skipped) {
      add_row(table, scaling_columns, line_of(study, entry));
    }
  }
  if (study.entries.size() == 1) { // nothing to compare with
    table.drop_empty();
  }
  return table.format();
}

/// What of a warm run on the GPU took longest.
std::string_view largest_phase(const Phases& phases) {
  const NamedPhase* largest = nullptr;
  for (const NamedPhase& phase : named_phases) {
    if (phases.*phase.member &&
        (largest == nullptr || *(phases.*phase.member) > *(phases.*largest->member))) {
      largest = &phase;
    }
  }
  return largest != nullptr ? largest->name : "unexplained";
}

GpuAnswer gpu_answer(const ScalingStudy& study) {
  if (study.scaling == Scaling::weak) {
    return {"", nullptr};
  }
  const Row* best = fastest(study.frame, [](const Row& row) { return !row.on_device(); });
  const Row* gpu = study.gpu ? &*study.gpu : nullptr;
  if (gpu == nullptr || !gpu->ranked() || best == nullptr) {
    const std::string& why = gpu != nullptr ? gpu->reason : study.why_no_gpu;
    return no_gpu(why.empty() ? "one of the two has no verified time" : why);
  }
  const Speedups times = speedups(study.frame, *gpu, best);
  // A user waits for the whole run; the steps alone stand in where it was not affordable.
  return gpu_verdict(
      fmt::format(
          "Against the best of them the GPU ({}) is {} an iteration{}", gpu->name,
          format_pace(*times.per_iteration),
          times.warm ? fmt::format(" and {} in a whole run", format_pace(*times.warm)) : ""),
      times.warm.value_or(*times.per_iteration),
      {{"per_iteration", times.per_iteration}, {"warm", times.warm}, {"cold", times.cold}},
      gpu->warm ? fmt::format("; most of its run is {}", largest_phase(*gpu->warm)) : "");
}

std::string format_sentence(const ScalingStudy& study) {
  const ScalingEntry* advice = recommended(study);
  if (advice == nullptr) {
    return "No number of threads has both a verified result and a time.";
  }
  const ScalingEntry* best = advice;
  for (const ScalingEntry& entry : study.entries) {
    if (entry.counts() && entry.throughput() > best->throughput()) {
      best = &entry;
    }
  }
  if (study.entries.size() == 1) {
    return fmt::format("{} takes {} an iteration on {} thread{}; no other number was measured.",
                       study.backend, format_seconds(best->row.step_seconds()), best->threads,
                       best->threads == 1 ? "" : "s");
  }
  const ScalingLine line = line_of(study, *best);
  std::string text = fmt::format("{} is fastest on {} thread{}", study.backend, best->threads,
                                 best->threads == 1 ? "" : "s");
  if (line.speed_up && best->threads > 1) {
    text +=
        fmt::format(", {} times as fast as on one ({} of {} times)", format_figure(*line.speed_up),
                    format_percent(*line.efficiency), best->threads);
  }
  return fmt::format("{}; take {}, the fewest within 5 % of the best.", text, advice->threads);
}

std::vector<std::string> warnings(const ScalingStudy& study) {
  std::vector<std::string> notes;
  const int most = study.entries.back().threads;
  if (std::isfinite(study.cpu_quota) && most > study.cpu_quota) {
    notes.push_back(
        fmt::format("the cgroup's quota is the time of {} CPUs: more threads than that are all "
                    "stopped for a part of each period",
                    format_figure(study.cpu_quota)));
  }
  if (most > study.usable_cpus) {
    notes.push_back(fmt::format(
        "oversubscribed: on {} usable CPU{}, more threads than that take turns and wait for each "
        "other; they are left out of the fit",
        study.usable_cpus, study.usable_cpus == 1 ? "" : "s"));
  }
  for (const ScalingEntry& entry : study.entries) {
    if (entry.row.ranked() && !entry.counts()) {
      notes.push_back(
          fmt::format("{} ran on {} threads where {} were asked for, so this row is not used",
                      study.backend, entry.row.provenance.threads, entry.threads));
    }
  }
  return notes;
}

} // namespace

LabReport scaling_report(const ScalingStudy& study) {
  const auto fit = fit_serial_fraction(study.scaling, scaling_points(study));
  const GpuAnswer gpu = gpu_answer(study);
  const ScalingEntry* advice = recommended(study);

  LabReport report;
  const std::string table = format_title(study.frame) + format_table(study);
  report.figures = table + format_troubles(study.frame);
  report.text =
      table + (fit ? "\n" + format_fit(study.scaling, *fit) : "") + format_troubles(study.frame);
  report.found_in_data = {"fit", "recommended_threads", "gpu"};
  report.sentence = format_sentence(study) + gpu.sentence;
  report.notes = warnings(study);
  report.notes.insert(report.notes.end(), study.frame.notes.begin(), study.frame.notes.end());
  report.interrupted = study.frame.interrupted;
  report.disturbed = study.frame.disturbed;
  report.outcome = outcome_of(study.frame);

  Value rows = Value::list();
  for (const ScalingEntry& entry : study.entries) {
    ComparisonResult frame = study.frame;
    frame.problem = entry.problem;
    rows.push_back(object_of(scaling_columns, line_of(study, entry), row_json(frame, entry.row)));
    if (entry.row.ranked()) {
      report.series.push_back(sample_series(entry.problem, entry.row, "scaling"));
    }
  }
  if (study.gpu && study.gpu->ranked()) {
    report.series.push_back(sample_series(study.frame.problem, *study.gpu, "scaling"));
  }
  report.data = {{"mode", study.scaling == Scaling::strong ? "strong" : "weak"},
                 {"backend", study.backend},
                 {"problem", problem_json(study.frame)},
                 {"usable_cpus", study.usable_cpus},
                 {"cpu_quota", study.cpu_quota},
                 {"results", std::move(rows)},
                 {"fit", fit_json(study.scaling, fit)},
                 {"recommended_threads", advice != nullptr ? Value(advice->threads) : nullptr},
                 {"gpu", gpu.json},
                 {"gpu_row", study.gpu ? row_json(study.frame, *study.gpu) : nullptr}};
  return report;
}

} // namespace diffbench::bench
