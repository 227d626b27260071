// SPDX-License-Identifier: Apache-2.0
// What a sweep found: the table of its combinations, and from which grid and iteration count on one
// row beats another, at each value of the other axes.
#pragma once

#include "crossover.hpp"
#include "lab_report.hpp"
#include "sweep_plan.hpp"
#include "sweep_rows.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// The two rows: from where on does the second one win. Empty names: the fastest of the CPU's and
/// the fastest of the GPU's backends, at each combination anew (peers and naive ports left out).
struct CrossedRows {
  std::string champion;
  std::string challenger;

  [[nodiscard]] bool named() const { return !champion.empty(); }
};

/// A crossover along one axis, everything else held fixed.
struct Crossing {
  std::string along;                                      ///< "--grid" or "--iters"
  std::vector<std::pair<std::string, std::string>> fixed; ///< the other axes' values
  Measure measure{};
  Crossover crossover;
};

/// Along --grid where it is an axis (the size is the side of a square with as many cells), then
/// along --iters. A step does not depend on their number, so that measure has none along --iters.
/// None where fewer than two sizes have times of both rows.
[[nodiscard]] std::vector<Crossing> find_crossings(const std::vector<Axis>& axes,
                                                   std::span<const SweepRows> points,
                                                   const CrossedRows& crossed);

/// Of `points` in any order, all combinations or fewer; with fewer it is `interrupted`. Throws
/// InvalidInput for a point that holds no result (an edited file).
[[nodiscard]] LabReport sweep_report(const SweptAxes& swept, const std::vector<SweepPoint>& points,
                                     const CrossedRows& crossed);

} // namespace diffbench::bench
