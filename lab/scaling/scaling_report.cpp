// SPDX-License-Identifier: Apache-2.0
// What `diffbench scaling` says: the report of threads, and of a GPU beside them.
#include "report_json.hpp"
#include "scaling.hpp"
#include "speedup.hpp"
#include "table.hpp"
#include "thread_report.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace diffbench::bench {

namespace {

GpuAnswer gpu_answer(const ScalingStudy& study) {
  if (study.scaling == Scaling::weak) {
    return {"", nullptr};
  }
  const Row* const best = fastest(study.frame, std::not_fn(std::mem_fn(&Row::on_device)));
  const Row* const gpu = study.gpu();
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
      {{"per_iteration", times.per_iteration}, {"warm", times.warm}, {"cold", times.cold}});
}

} // namespace

LabReport scaling_report(const ScalingStudy& study) {
  const bool weak = study.scaling == Scaling::weak;
  ThreadStudy threads{.scaling = study.scaling,
                      .title = format_title(study.frame),
                      .usable_cpus = study.usable_cpus,
                      .cpu_quota = study.cpu_quota,
                      .least_effect = study.frame.least_effect,
                      .gpu = gpu_answer(study),
                      .data = {{"mode", weak ? "weak" : "strong"},
                               {"backend", study.backend},
                               {"problem", problem_json(study.frame)}},
                      .troubles = format_troubles(study.frame)};
  ComparisonResult frame = study.frame;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const auto& [problem, planned] = study.points[i];
    const Row& row = study.frame.rows[i];
    if (&row == study.gpu()) {
      continue;
    }
    frame.problem = problem;
    ThreadRow& own = threads.rows.emplace_back(
        ThreadRow{study_row(row, sample_series(problem, row, "scaling"), row_json(frame, row))});
    own.group = study.backend;
    own.threads = planned.session.threads;
    own.json["threads_asked"] = own.threads;
    own.json["nx"] = problem.nx;
    own.json["ny"] = problem.ny;
    own.work = static_cast<double>(problem.cells());
    own.grid = weak ? fmt::format("{}x{}", problem.nx, problem.ny) : "";
    own.proof = format_verified(study.frame, row);
    own.peak_bytes = row.peak_host_bytes;
  }
  LabReport report = thread_report(threads);
  add_frame(report, study.frame);
  const Row* const gpu = study.gpu();
  if (gpu != nullptr && gpu->ranked()) {
    report.series.push_back(sample_series(study.frame.problem, *gpu, "scaling"));
  }
  report.data["gpu_row"] = gpu != nullptr ? row_json(study.frame, *gpu) : Value();
  return report;
}

} // namespace diffbench::bench
