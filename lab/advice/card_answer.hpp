// SPDX-License-Identifier: Apache-2.0
// `diffbench advise --assume CARD`: from when on a card would pay that is not here.
#pragma once

#include "assumed_report.hpp"

#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What a step takes on the CPU, on a grid of so many cells. Between two of them it is a power of
/// the cells, beyond the largest it grows with them; below the smallest it is that one's.
struct CpuStep {
  double cells = 0, seconds = 0;
};

/// The run that is asked about.
struct AdvisedRun {
  CellWork work;
  double cells = 0, steps = 1;
  double trips = 1;      ///< of the field to the card and back
  std::string like = ""; ///< before the name of a backend
  bool in_cells = false; ///< sizes, not as the sides of a square grid
};

/// Adds the run by the backends on that card, beside `rival`'s time for it, and from when on the
/// card would pay against `cpu`, which is by ascending cells. No rival: nothing can be compared.
void append_answer(LabReport& report, const AssumedCard& card, const AdvisedRun& run,
                   std::span<const CpuStep> cpu, AssumedRuns shown,
                   const ComparisonResult& measured);

} // namespace diffbench::bench
