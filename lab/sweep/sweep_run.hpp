// SPDX-License-Identifier: Apache-2.0
// The loop of a sweep: measures what is not measured yet, and hands on each combination at once.
#pragma once

#include "progress.hpp"
#include "result.hpp"
#include "sweep_journal.hpp"
#include "sweep_plan.hpp"

#include <functional>
#include <vector>

namespace diffbench::bench {

/// Measures one combination: measure() of experiment.hpp, or what a test puts in its place. May
/// throw Interrupted, or return what is `interrupted`: both end the sweep.
using MeasureOne = std::function<ComparisonResult(const ComparisonPlan&, Progress&)>;
/// Called with each combination as soon as it is measured.
using KeepPoint = std::function<void(const SweepPoint&)>;

/// Completes `points` to all combinations of `plan`, or until Ctrl-C. The combination that Ctrl-C
/// cuts short is left out: it would not be what the others are. Throws what the two calls throw.
void run_sweep(const SweepPlan& plan, std::vector<SweepPoint>& points, const MeasureOne& measure,
               const KeepPoint& keep, Progress& progress);

} // namespace diffbench::bench
