// SPDX-License-Identifier: Apache-2.0
// `diffbench scaling`: one threaded backend on several numbers of threads.
#pragma once

#include "comparison_plan.hpp"
#include "lab_report.hpp"
#include "point_rows.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "scaling_law.hpp"
#include "selection.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

struct ScalingPlan {
  ComparisonPlan run; ///< weak scaling: the problem of one thread
  Scaling scaling = Scaling::strong;
  BackendInfo backend;
  std::vector<int> threads;      ///< ascending, the first is 1
  std::optional<PlannedRow> gpu; ///< to compare with, strong scaling only
  std::string why_no_gpu;        ///< without one
};

/// The thread counts of `list` in ascending order, and 1, which speed-ups refer to. Without any: 1,
/// 2, 4, ... and all `usable_cpus`.
[[nodiscard]] std::vector<int> thread_counts(std::span<const int> list, int usable_cpus);

struct ScalingStudy {
  Scaling scaling = Scaling::strong;
  std::string backend{};
  ComparisonResult frame{};       ///< what all rows have in common, and a row a point
  std::vector<PointRow> points{}; ///< the numbers of threads, then the GPU
  std::string why_no_gpu{};
  int usable_cpus = 1;
  double cpu_quota = 0; ///< infinity without one

  [[nodiscard]] const Row* gpu() const {
    const bool last = !frame.rows.empty() && frame.rows.back().on_device();
    return last ? &frame.rows.back() : nullptr;
  }
};

/// As measure_points() does, and throwing as that does.
[[nodiscard]] ScalingStudy measure_scaling(const ScalingPlan& plan, Progress& progress);

[[nodiscard]] LabReport scaling_report(const ScalingStudy& study);

} // namespace diffbench::bench
