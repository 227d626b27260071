// SPDX-License-Identifier: Apache-2.0
// The loop of a sweep: measures what is not measured yet, and hands on each combination at once.
#pragma once

#include "progress.hpp"
#include "result.hpp"
#include "sweep_plan.hpp"

#include <functional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Measures one combination: measure() of experiment.hpp, or what a test puts in its place. May
/// throw Interrupted, or return what is `interrupted`: both end the sweep.
struct SweepPoint {
  std::vector<std::string> values; ///< one of each axis
  double seconds = 0;              ///< that measuring it took
  ComparisonResult result;
};

using MeasureOne = std::function<ComparisonResult(const ComparisonPlan&, Progress&)>;

/// Measures the combinations in their order, until Ctrl-C: fewer then. Throws what `measure`
/// throws.
[[nodiscard]] std::vector<SweepPoint> run_sweep(const SweepPlan& plan, const MeasureOne& measure,
                                                Progress& progress);

} // namespace diffbench::bench
