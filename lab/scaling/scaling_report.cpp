// SPDX-License-Identifier: Apache-2.0
// What `diffbench scaling` says: the report of threads, and of a GPU beside them.
#include "ratio.hpp"
#include "report_json.hpp"
#include "scaling.hpp"
#include "speedup.hpp"
#include "table.hpp"
#include "thread_report.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

ThreadEntry entry_of(const ScalingStudy& study, const ScalingEntry& entry) {
  const Problem& problem = entry.problem;
  ComparisonResult frame = study.frame;
  frame.problem = problem;
  Value json = row_json(frame, entry.row);
  json["threads_asked"] = entry.threads;
  json["nx"] = problem.nx;
  json["ny"] = problem.ny;
  return {.name = study.backend,
          .threads = entry.threads,
          .shown = entry.row.status != Status::skipped,
          .ranked = entry.row.ranked(),
          .work = static_cast<double>(problem.cells()),
          .grid = fmt::format("{}x{}", problem.nx, problem.ny),
          .verified = format_verified(study.frame, entry.row),
          .peak_bytes = entry.row.peak_host_bytes,
          .series = sample_series(problem, entry.row, "scaling"),
          .json = std::move(json)};
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
  // Of whole runs one time each is known: it varies as those of the steps do.
  Ratio counting = ratio_in_run(best->samples, gpu->samples);
  const double whole_run = times.warm.value_or(*times.per_iteration) / counting.value;
  counting.value *= whole_run;
  if (counting.interval) {
    counting.interval->low *= whole_run;
    counting.interval->high *= whole_run;
  }
  // A user waits for the whole run; the steps alone stand in where it was not affordable.
  return gpu_verdict(
      gpu->name, best->name,
      fmt::format(
          "{} an iteration{}", format_pace(*times.per_iteration),
          times.warm ? fmt::format(" and {} in a whole run", format_pace(*times.warm)) : ""),
      counting,
      {{"per_iteration", times.per_iteration}, {"warm", times.warm}, {"cold", times.cold}},
      gpu->warm ? fmt::format("; most of its run is {}", largest_phase(*gpu->warm)) : "");
}

} // namespace

LabReport scaling_report(const ScalingStudy& study) {
  ThreadStudy threads{.scaling = study.scaling,
                      .title = format_title(study.frame),
                      .usable_cpus = study.usable_cpus,
                      .cpu_quota = study.cpu_quota,
                      .least_effect = study.frame.least_effect,
                      .gpu = gpu_answer(study),
                      .data = {{"mode", study.scaling == Scaling::strong ? "strong" : "weak"},
                               {"backend", study.backend},
                               {"problem", problem_json(study.frame)}},
                      .troubles = format_troubles(study.frame)};
  for (const ScalingEntry& entry : study.entries) {
    threads.entries.push_back(entry_of(study, entry));
  }
  LabReport report = thread_report(threads);
  report.notes.insert(report.notes.end(), study.frame.notes.begin(), study.frame.notes.end());
  report.interrupted = study.frame.interrupted;
  report.disturbed = study.frame.disturbed;
  report.outcome = outcome_of(study.frame);
  if (study.gpu && study.gpu->ranked()) {
    report.series.push_back(sample_series(study.frame.problem, *study.gpu, "scaling"));
  }
  report.data["recommended_threads"] = recommended_threads(threads);
  report.data["gpu_row"] = study.gpu ? row_json(study.frame, *study.gpu) : nullptr;
  return report;
}

} // namespace diffbench::bench
