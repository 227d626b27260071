// What a sweep found: the table of its combinations, and from where on one row beats another.
#pragma once

#include "lab_report.hpp"
#include "sweep_crossings.hpp"
#include "sweep_journal.hpp"
#include "sweep_plan.hpp"

#include <vector>

namespace diffbench::bench {

/// Of `points` in any order, all combinations or fewer; with fewer it is `interrupted`. Throws
/// InvalidInput for a point that holds no result (an edited file).
[[nodiscard]] LabReport sweep_report(const SweptAxes& swept, const std::vector<SweepPoint>& points,
                                     const CrossedRows& crossed);

} // namespace diffbench::bench
