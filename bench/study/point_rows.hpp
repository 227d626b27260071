// SPDX-License-Identifier: Apache-2.0
// Rows that each have a problem of their own, measured as those of one comparison.
#pragma once

#include "comparison_plan.hpp"
#include "lab_report.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <vector>

namespace diffbench::bench {

/// A row that is to be measured, and on what.
struct PointRow {
  Problem problem;
  PlannedRow planned;
};

/// All verified, and in the result in their order. With the same grid: in the same interleaved
/// rounds. Else each is a comparison of its own, all of them there and back again, so that a drift
/// of the machine meets all alike; after Ctrl-C `points` are those that have a row. `launched`: the
/// ranks of a launcher. Throws as measure() does.
[[nodiscard]] ComparisonResult measure_points(ComparisonPlan run, std::vector<PointRow>& points,
                                              Progress& progress,
                                              const cluster::Ranks* launched = nullptr);

/// What a report has of a comparison whatever it says of it: notes, and how it ended.
void add_frame(LabReport& report, const ComparisonResult& frame);

} // namespace diffbench::bench
