// SPDX-License-Identifier: Apache-2.0
// The comparison's measurements, in order: copy roof, reference, verified first runs of each
// row, interleaved timing rounds, warm runs end to end.
#pragma once

#include "comparison_plan.hpp"
#include "foreign_load.hpp"
#include "observer.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <span>

namespace diffbench::bench {

/// Measures the planned_rows and the peers of `plan`. A row that fails or is not the reference's
/// is in the result and says why; the others go on. After Ctrl-C the result holds what was measured
/// so far. Throws what makes a comparison impossible: Error (memory), InvalidInput (an initial
/// file), Unavailable (a peer), Interrupted (before there was anything to keep). `observer` hears
/// of stages, of the runs of rows, and of calls; of emulated rows, whose times mean nothing, of
/// none. What other programs have meanwhile is seen by `load`.
[[nodiscard]] ComparisonResult measure(const ComparisonPlan& plan,
                                       std::span<const PlannedRow> planned_rows, Progress& progress,
                                       Observer& observer = nobody(), LoadWatch load = LoadWatch());

} // namespace diffbench::bench
