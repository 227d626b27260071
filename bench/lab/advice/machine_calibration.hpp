// The whole calibration: every backend in every dtype on every grid.
#pragma once

#include "cost_profile.hpp"
#include "diffbench/problem.hpp"
#include "progress.hpp"
#include "selection.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Side of the largest grid: far beyond the caches.
inline constexpr std::int64_t largest_side = 4096;
inline constexpr std::int64_t smallest_side = 64;
/// All is measured so often, minutes apart, and the lower times count: a virtual machine's CPUs may
/// share one of the host's, or its last-level cache with others, for seconds at a time.
inline constexpr int calibration_passes = 3;

/// The ways of `planned_rows`, all of which can be timed here, on square grids up to `largest`. One
/// that fails or is not the reference's is left out, and `notes` says why. Throws Interrupted.
[[nodiscard]] std::vector<WayCost> calibrate_machine(std::span<const PlannedRow> planned_rows,
                                                     std::span<const Dtype> dtypes,
                                                     std::int64_t largest, Progress& progress,
                                                     std::vector<std::string>& notes);

} // namespace diffbench::bench
