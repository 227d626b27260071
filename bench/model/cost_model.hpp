// SPDX-License-Identifier: Apache-2.0
// The model behind `diffbench advise`: what a run costs, from what the same backend cost on a few
// grids of this machine. Arithmetic only.
//
//   warm run = copies in and out + steps          cold run = setup + warm run
//
// On each calibrated grid the time of K steps is known for some K and taken as straight between
// them, beyond the last one with the last slope. Backends that take several steps a sweep, or wake
// threads once a call, are not proportional to K; a table follows them without a formula each.
// Between two grids each part is interpolated linearly in the logarithms of cells and seconds,
// since caches and overheads make it a power of the cells piece by piece. Beyond the largest grid
// it grows with the cells; below the smallest it is that one's.
#pragma once

#include "diffbench/execution.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Seconds for so many steps in one call, with the wait for its end.
struct StepsCost {
  std::int64_t steps = 0;
  double seconds = 0;
};

/// What was measured on a square grid.
struct GridCost {
  std::int64_t side = 0;
  int threads = 1;          ///< that really ran
  double setup_seconds = 0; ///< what a cold run takes beyond a warm one
  double copy_in_seconds = 0;
  double copy_out_seconds = 0;
  std::vector<StepsCost> steps; ///< ascending, the first of one step, at least two
  double cold_seconds = 0;      ///< of a cold run of one step; in no profile
};

/// One way to run: a backend in a dtype.
struct WayCost {
  std::string backend;
  DeviceKind device = DeviceKind::cpu; ///< or cuda
  std::string dtype;
  std::vector<GridCost> grids; ///< ascending, at least one
};

/// Steps of the calls that were made of the same way as `way` on that grid; empty: it was not
/// there.
[[nodiscard]] std::vector<std::int64_t> steps_of_calls(std::span<const WayCost> ways,
                                                       const WayCost& way, std::int64_t side);

/// Sets setup_seconds to what cold_seconds are beyond a warm run.
void derive_setup(GridCost& grid);

/// Of two calibrations of a way the lower of each measured time: what disturbs a measurement only
/// slows it, and seldom at the same place a minute later. With the grids of both, and on one that
/// both have the calls of `way`.
[[nodiscard]] WayCost less_disturbed(WayCost way, const WayCost& other);

/// The run whose time is wanted.
struct RunShape {
  double cells = 0;
  std::int64_t iterations = 1;
  std::int64_t snapshot_every = 0; ///< steps between two copies to the host; 0: none
  /// Copies of the field a step, half of them each way, which cut the run into stretches with a
  /// round trip each: 2 is one every step, 0 none. Not with snapshots.
  double copies_per_step = 0;
};

/// Calls of so many steps each.
struct Stretch {
  std::int64_t steps = 1;
  double times = 1; ///< not whole where copies_per_step does not divide the run
};
/// The calls in which a run makes its steps: from one copy to the host to the next.
[[nodiscard]] std::vector<Stretch> stretches_of(const RunShape& run);

struct Prediction {
  double steps_seconds = 0;    ///< all steps, in one call or from snapshot to snapshot
  double snapshot_seconds = 0; ///< all copies on the way
  double warm_seconds = 0;
  double cold_seconds = 0;
  bool beyond = false; ///< the grid is larger than any that was calibrated
  bool below = false;  ///< it is smaller
};

/// Stretches in which a cold run of the comparison makes its steps (time_first_run()).
[[nodiscard]] std::vector<std::int64_t> first_run_stretches(std::int64_t iterations);

/// Seconds of `iterations` steps in one call on that grid.
[[nodiscard]] double steps_seconds(const GridCost& grid, std::int64_t iterations);

[[nodiscard]] Prediction predict(const WayCost& way, const RunShape& run);

} // namespace diffbench::bench
