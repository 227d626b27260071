// What `diffbench scaling` says: the table, the laws, how many threads, and whether a GPU pays.
#include "report_json.hpp"
#include "scaling.hpp"
#include "scaling_fit_report.hpp"
#include "speedup.hpp"
#include "statistics.hpp"
#include "table.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

struct Figures {
  double speed_up = 0;
  double efficiency = 0;
  std::optional<double> serial_fraction = {}; ///< none of one thread
};

/// Empty unless both this and one thread count.
std::optional<Figures> figures(const ScalingStudy& study, const ScalingEntry& entry) {
  const ScalingEntry& one = study.entries.front();
  if (one.threads != 1 || !one.counts() || !entry.counts()) {
    return std::nullopt;
  }
  Figures figures{.speed_up = entry.throughput() / one.throughput()};
  figures.efficiency = figures.speed_up / entry.threads;
  if (entry.threads > 1) {
    figures.serial_fraction = serial_fraction(study.scaling, entry.threads, figures.speed_up);
  }
  return figures;
}

std::string format_threads(const ScalingStudy& study, const ScalingEntry& entry) {
  std::string text = std::to_string(entry.threads);
  if (entry.row.verification && entry.row.provenance.threads != entry.threads) {
    text += fmt::format(" (ran on {})", entry.row.provenance.threads);
  } else if (study.oversubscribed(entry.threads)) {
    text += " (oversubscribed)";
  }
  return text;
}

std::string format_table(const ScalingStudy& study) {
  const bool weak = study.scaling == Scaling::weak;
  TextTable table({study.backend + ", threads", "grid", "time/iter", "spread",
                   weak ? "scaled speed-up" : "speed-up", "efficiency", "serial fraction",
                   "GCell/s", "peak memory", "verified"});
  for (const ScalingEntry& entry : study.entries) {
    const Row& row = entry.row;
    if (row.status == Status::skipped) {
      continue;
    }
    TextTable::Cells cells{format_threads(study, entry),
                           fmt::format("{}x{}", entry.problem.nx, entry.problem.ny)};
    const auto derived = figures(study, entry);
    if (row.ranked()) {
      const Quartiles time = iteration_quartiles(row.samples);
      cells.push_back(format_seconds(time.median));
      cells.push_back(row.samples.size() > 1
                          ? fmt::format("+-{:.1f} %", 100 * time.relative_spread())
                          : no_value);
    } else {
      cells.insert(cells.end(), 2, no_value);
    }
    cells.push_back(derived ? format_figure(derived->speed_up) + "x" : no_value);
    cells.push_back(derived ? format_percent(derived->efficiency) : no_value);
    cells.push_back(derived && derived->serial_fraction ? format_percent(*derived->serial_fraction)
                                                        : no_value);
    cells.push_back(row.ranked() ? format_figure(entry.throughput() / 1e9) : no_value);
    cells.push_back(row.peak_host_bytes ? format_bytes(*row.peak_host_bytes) : no_value);
    cells.push_back(row.status == Status::failed ? "failed" : format_verified(study.frame, row));
    table.add(std::move(cells));
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

struct GpuAnswer {
  std::string sentence;
  ordered_json json;
};

GpuAnswer gpu_answer(const ScalingStudy& study) {
  if (study.scaling == Scaling::weak) {
    return {"", nullptr};
  }
  const Row* best = fastest(study.frame, [](const Row& row) { return !row.on_device(); });
  const Row* gpu = study.gpu ? &*study.gpu : nullptr;
  if (gpu == nullptr || !gpu->ranked() || best == nullptr) {
    std::string why = gpu != nullptr ? gpu->reason : study.why_no_gpu;
    if (why.empty()) {
      why = "one of the two has no verified time";
    }
    return {
        fmt::format(" Whether a GPU is worth it stays open: there is none with a time ({}).", why),
        {{"status", "absent"}, {"reason", why}}};
  }
  const Speedups times = speedups(study.frame, *gpu, best);
  // A user waits for the whole run; the steps alone stand in where it was not affordable.
  const double counted = times.warm.value_or(*times.per_iteration);
  std::string text = fmt::format(
      " The GPU ({}) is {} times as fast an iteration{} as the best of them: {} by the rule of "
      "{} times",
      gpu->name, format_figure(*times.per_iteration),
      times.warm ? fmt::format(" and {} times in a whole run", format_figure(*times.warm)) : "",
      counted >= gpu_worth_it ? "worth it" : "not worth it", gpu_worth_it);
  if (gpu->warm) {
    text += fmt::format("; most of its run is {}", largest_phase(*gpu->warm));
  }
  return {text + ".",
          {{"status", "ok"},
           {"per_iteration", number(times.per_iteration)},
           {"warm", number(times.warm)},
           {"cold", number(times.cold)},
           {"bar", gpu_worth_it},
           {"worth_it", counted >= gpu_worth_it}}};
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
  const auto derived = figures(study, *best);
  std::string text = fmt::format("{} does most on {} thread{}", study.backend, best->threads,
                                 best->threads == 1 ? "" : "s");
  if (derived && best->threads > 1) {
    text +=
        fmt::format(", {} times what one does ({} of {} times)", format_figure(derived->speed_up),
                    format_percent(derived->efficiency), best->threads);
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
        "oversubscribed: on {} usable CPU{}, more threads than that take turns and wait for "
        "each other; they are no part of the fit",
        study.usable_cpus, study.usable_cpus == 1 ? "" : "s"));
  }
  for (const ScalingEntry& entry : study.entries) {
    if (entry.row.ranked() && !entry.counts()) {
      notes.push_back(
          fmt::format("{} ran on {} threads where {} were asked for, so this row "
                      "answers nothing",
                      study.backend, entry.row.provenance.threads, entry.threads));
    }
  }
  return notes;
}

ordered_json entry_json(const ScalingStudy& study, const ScalingEntry& entry) {
  ComparisonResult frame = study.frame;
  frame.problem = entry.problem;
  ordered_json json = row_json(frame, entry.row);
  const auto derived = figures(study, entry);
  json["threads_asked"] = entry.threads;
  json["nx"] = entry.problem.nx;
  json["ny"] = entry.problem.ny;
  json["oversubscribed"] = study.oversubscribed(entry.threads);
  json["speedup"] = derived ? number(derived->speed_up) : nullptr;
  json["efficiency"] = derived ? number(derived->efficiency) : nullptr;
  json["serial_fraction"] = derived ? number(derived->serial_fraction) : nullptr;
  return json;
}

} // namespace

LabReport scaling_report(const ScalingStudy& study) {
  const auto fit = fit_serial_fraction(study.scaling, scaling_points(study));
  const GpuAnswer gpu = gpu_answer(study);
  const ScalingEntry* advice = recommended(study);

  LabReport report;
  report.text = format_title(study.frame) + format_table(study) +
                (fit ? "\n" + format_fit(study.scaling, *fit) : "") + format_troubles(study.frame);
  report.sentence = format_sentence(study) + gpu.sentence;
  report.notes = warnings(study);
  report.notes.insert(report.notes.end(), study.frame.notes.begin(), study.frame.notes.end());
  report.interrupted = study.frame.interrupted;
  report.outcome = outcome_of(study.frame);

  ordered_json rows = ordered_json::array();
  for (const ScalingEntry& entry : study.entries) {
    rows.push_back(entry_json(study, entry));
    if (entry.row.ranked()) {
      ComparisonResult frame = study.frame;
      frame.problem = entry.problem;
      report.series.push_back(sample_series(frame, entry.row, "scaling"));
    }
  }
  if (study.gpu && study.gpu->ranked()) {
    report.series.push_back(sample_series(study.frame, *study.gpu, "scaling"));
  }
  report.data = {
      {"mode", study.scaling == Scaling::strong ? "strong" : "weak"},
      {"backend", study.backend},
      {"problem", problem_json(study.frame)},
      {"usable_cpus", study.usable_cpus},
      {"cpu_quota", number(study.cpu_quota)},
      {"results", std::move(rows)},
      {"fit", fit_json(study.scaling, fit)},
      {"recommended_threads", advice != nullptr ? ordered_json(advice->threads) : nullptr},
      {"gpu", gpu.json},
      {"gpu_row", study.gpu ? row_json(study.frame, *study.gpu) : nullptr}};
  return report;
}

} // namespace diffbench::bench
