// SPDX-License-Identifier: Apache-2.0
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

/// How much of it: all, or what takes a minute at most, for whoever only asks for advice: a few of
/// the grids, once, as far as the time goes.
enum class CalibrationExtent { thorough, brief };

/// About what calibrate_machine() takes: 0.75 s a grid, which was 470 s for the 630 of seven
/// backends on two CPUs (Zen 5) beside other work, and half of that alone.
[[nodiscard]] double expected_calibration_seconds(std::size_t planned_rows, std::size_t dtypes,
                                                  std::int64_t largest,
                                                  CalibrationExtent extent = {});

/// What was measured, and whether all of it was: Ctrl-C leaves what there was until then.
struct MachineCalibration {
  std::vector<WayCost> ways;
  bool complete = true;
};

/// The ways of `planned_rows`, all of which can be timed here, on square grids up to `largest`. One
/// that fails or is not the reference's is left out, and `notes` says why; also what an interrupted
/// one lacks. Throws Interrupted before there was a grid of any way.
[[nodiscard]] MachineCalibration calibrate_machine(std::span<const PlannedRow> planned_rows,
                                                   std::span<const Dtype> dtypes,
                                                   std::int64_t largest, Progress& progress,
                                                   std::vector<std::string>& notes,
                                                   CalibrationExtent extent = {});

} // namespace diffbench::bench
