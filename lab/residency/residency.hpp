// SPDX-License-Identifier: Apache-2.0
// `diffbench residency`: one solve, and how much of it the field spends on the device. From a port
// that brings it back every step to one that leaves it there, and the CPU beside them.
#pragma once

#include "comparison_plan.hpp"
#include "lab_report.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct ResidencyPlan {
  ComparisonPlan run;
  std::vector<std::int64_t> trips_every; ///< steps between two round trips, ascending
  std::int64_t snapshot_every = 100;
};

/// A part of the rows: the CPU, a GPU, or the stand-in for one.
enum class Place { cpu, gpu, stand_in };
[[nodiscard]] std::string_view to_string(Place place);

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

[[nodiscard]] LabReport residency_report(const Ladder& ladder, const ComparisonResult& result);

} // namespace diffbench::bench
