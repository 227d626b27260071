// SPDX-License-Identifier: Apache-2.0
// `diffbench residency`: one solve, and how much of it the field spends on the device. From a port
// that brings it back every step to one that leaves it there, and the CPU beside them.
#pragma once

#include "comparison_plan.hpp"
#include "lab_report.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

struct ResidencyPlan {
  ComparisonPlan run;
  std::vector<std::int64_t> trips_every; ///< steps between two round trips, ascending
  std::int64_t snapshot_every = 100;
};

/// A part of the rows: the CPU, a GPU, or the stand-in for one.
enum class Place { cpu, gpu, stand_in };

struct Rung {
  Place place;
  PlannedRow planned;
  /// Label of the row with the same kernel and the same way of copying whose field stays; its own
  /// where it stays. Empty: there is nothing to compare with.
  std::string resident;
};

struct Ladder {
  std::vector<Rung> rungs;
  std::string why_no_gpu; ///< empty: there are rungs on a GPU, which may be emulated
};

/// The rungs that `available` (all backends of the build with their probes) allows. Where no GPU
/// can be timed, `simd` stands in for one: the same round trips between two places in host memory.
/// Rungs that visit the host less than once in a run are left out.
[[nodiscard]] Ladder residency_ladder(const ResidencyPlan& plan,
                                      std::span<const PlannedRow> available);

/// A kernel's seconds a step at `visits` per step of the host.
struct VisitCost {
  double visits = 0;
  double seconds = 0;
};

/// The visits per step at which a step takes `seconds`: interpolated, since a visit costs about the
/// same at any rate. `costs` ascend in visits, from 0 on. Empty: even without any it takes longer.
/// Infinity: even with the most it takes less.
[[nodiscard]] std::optional<double> affordable_visits(std::span<const VisitCost> costs,
                                                      double seconds);

[[nodiscard]] LabReport residency_report(const Ladder& ladder, const ComparisonResult& result);

} // namespace diffbench::bench
