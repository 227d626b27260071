// SPDX-License-Identifier: Apache-2.0
// What a sweep found: the table of its combinations, and from which grid and iteration count on one
// row beats another, at each value of the other axes.
#pragma once

#include "assumed_report.hpp"
#include "study.hpp"
#include "sweep_plan.hpp"
#include "sweep_run.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

/// The two rows: from where on does the second one win. Empty names: the fastest of the CPU's and
/// the fastest of the GPU's backends, at each combination anew (peers and naive ports left out).
struct CrossedRows {
  std::string champion;
  std::string challenger;

  [[nodiscard]] bool named() const { return !champion.empty(); }
};

/// Which time of a run is compared.
enum class Measure {
  step, ///< an iteration, once everything is in place
  warm, ///< a whole run with both copies
  cold, ///< a whole run from nothing
};

/// The rows of `points`, with samples of that measure; without any where a row has no such time. Of
/// a whole run one time is known: its steps vary as the samples do.
[[nodiscard]] Study sweep_study(const SweepPlan& swept, const std::vector<SweepPoint>& points,
                                Measure measure);

/// Of `points`, all combinations or fewer; with fewer it is `interrupted`.
[[nodiscard]] LabReport sweep_report(const SweepPlan& swept, const std::vector<SweepPoint>& points,
                                     const CrossedRows& crossed);

/// Adds what a step would take on the card, by a port that waits after each, and both as one curve.
void append_assumed_curve(LabReport& report, const AssumedCard& card,
                          const std::vector<SweepPoint>& points);

} // namespace diffbench::bench
