// SPDX-License-Identifier: Apache-2.0
#include "cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace diffbench::bench {

namespace {

double cells_of(const GridCost& grid) {
  return static_cast<double>(grid.side) * static_cast<double>(grid.side);
}

/// Of a part that may have measured as nothing.
constexpr double least_seconds = 1e-9;

/// What `part` (of a GridCost) is for so many cells.
template <typename Part>
double at_cells(const WayCost& way, double cells, Part part) {
  const std::vector<GridCost>& grids = way.grids;
  if (cells <= cells_of(grids.front())) {
    return part(grids.front());
  }
  if (cells >= cells_of(grids.back())) {
    return part(grids.back()) * cells / cells_of(grids.back());
  }
  const auto above = std::ranges::upper_bound(grids, cells, {}, cells_of);
  const auto below = above - 1;
  const double fraction =
      std::log(cells / cells_of(*below)) / std::log(cells_of(*above) / cells_of(*below));
  const double low = std::log(std::max(part(*below), least_seconds));
  const double high = std::log(std::max(part(*above), least_seconds));
  return std::exp(low + fraction * (high - low));
}

double call_seconds(const WayCost& way, double cells, std::int64_t iterations) {
  return at_cells(way, cells,
                  [&](const GridCost& grid) { return steps_seconds(grid, iterations); });
}

} // namespace

WayCost less_disturbed(WayCost way, const WayCost& other) {
  for (const GridCost& again : other.grids) {
    const auto grid = std::ranges::find(way.grids, again.side, &GridCost::side);
    if (grid == way.grids.end()) {
      way.grids.push_back(again);
      continue;
    }
    grid->cold_seconds = std::min(grid->cold_seconds, again.cold_seconds);
    grid->copy_in_seconds = std::min(grid->copy_in_seconds, again.copy_in_seconds);
    grid->copy_out_seconds = std::min(grid->copy_out_seconds, again.copy_out_seconds);
    for (StepsCost& call : grid->steps) {
      const auto same_call = std::ranges::find(again.steps, call.steps, &StepsCost::steps);
      if (same_call != again.steps.end()) {
        call.seconds = std::min(call.seconds, same_call->seconds);
      }
    }
    derive_setup(*grid);
  }
  std::ranges::sort(way.grids, {}, &GridCost::side);
  return way;
}

std::vector<std::int64_t> steps_of_calls(std::span<const WayCost> ways, const WayCost& way,
                                         std::int64_t side) {
  std::vector<std::int64_t> steps;
  for (const WayCost& other : ways) {
    for (const GridCost& grid : other.grids) {
      if (other.backend == way.backend && other.dtype == way.dtype && grid.side == side) {
        std::ranges::transform(grid.steps, std::back_inserter(steps), &StepsCost::steps);
      }
    }
  }
  return steps;
}

void derive_setup(GridCost& grid) {
  const double warm = grid.copy_in_seconds + steps_seconds(grid, 1) + grid.copy_out_seconds;
  grid.setup_seconds = std::max(0.0, grid.cold_seconds - warm);
}

std::vector<std::int64_t> first_run_stretches(std::int64_t iterations) {
  std::vector<std::int64_t> stretches{1};
  std::int64_t left = iterations - 1;
  for (const std::int64_t count : {3, 12, 48}) {
    if (count <= left) {
      stretches.push_back(count);
      left -= count;
    }
  }
  if (left > 0) {
    stretches.push_back(left);
  }
  return stretches;
}

std::vector<Stretch> stretches_of(const RunShape& run) {
  if (run.snapshot_every > 0 && run.snapshot_every <= run.iterations) {
    const std::int64_t whole = run.iterations / run.snapshot_every;
    std::vector<Stretch> stretches{{run.snapshot_every, static_cast<double>(whole)}};
    if (const std::int64_t rest = run.iterations % run.snapshot_every; rest > 0) {
      stretches.push_back({rest, 1});
    }
    return stretches;
  }
  if (run.copies_per_step > 0) {
    const auto all = static_cast<double>(run.iterations);
    const std::int64_t steps =
        std::llround(std::clamp(std::round(2 / run.copies_per_step), 1.0, all));
    return {{steps, all / static_cast<double>(steps)}};
  }
  return {{run.iterations, 1}};
}

double steps_seconds(const GridCost& grid, std::int64_t iterations) {
  const std::vector<StepsCost>& costs = grid.steps;
  const auto above = std::lower_bound(
      costs.begin(), costs.end(), iterations,
      [](const StepsCost& cost, std::int64_t wanted) { return cost.steps < wanted; });
  if (above == costs.begin()) {
    return costs.front().seconds;
  }
  const bool beyond = above == costs.end();
  const auto high = beyond ? above - 1 : above;
  // All that is far beyond follows from the last slope: over two intervals, as one may be
  // disturbed.
  const auto low = beyond && costs.size() > 2 ? high - 2 : high - 1;
  // A step cannot take less than nothing, whatever disturbed its measurement.
  const double step =
      std::max(0.0, (high->seconds - low->seconds) / static_cast<double>(high->steps - low->steps));
  return low->seconds + step * static_cast<double>(iterations - low->steps);
}

Prediction predict(const WayCost& way, const RunShape& run) {
  const double in =
      at_cells(way, run.cells, [](const GridCost& grid) { return grid.copy_in_seconds; });
  const double out =
      at_cells(way, run.cells, [](const GridCost& grid) { return grid.copy_out_seconds; });
  const double setup =
      at_cells(way, run.cells, [](const GridCost& grid) { return grid.setup_seconds; });
  const auto calls = [&](std::int64_t steps) { return call_seconds(way, run.cells, steps); };
  Prediction prediction{.beyond = run.cells > cells_of(way.grids.back()),
                        .below = run.cells < cells_of(way.grids.front())};
  // What short calls take was measured from the initial field on, where steps may be cheaper (no
  // denormal numbers yet). Stretches of a run are not: they take no less than one call of all.
  double in_stretches = 0;
  for (const Stretch& stretch : stretches_of(run)) {
    in_stretches += stretch.times * calls(stretch.steps);
  }
  prediction.steps_seconds = std::max(calls(run.iterations), in_stretches);
  double first_steps = 0;
  for (const std::int64_t steps : first_run_stretches(run.iterations)) {
    first_steps += calls(steps);
  }
  first_steps = std::max(first_steps, prediction.steps_seconds);
  if (run.snapshot_every > 0) {
    const std::int64_t snapshots = run.iterations / run.snapshot_every;
    prediction.snapshot_seconds = static_cast<double>(snapshots) * out;
  } else if (run.copies_per_step > 0) {
    // The first copy in and the last one out are those of every run.
    const double trips = static_cast<double>(run.iterations) * run.copies_per_step / 2;
    prediction.snapshot_seconds = std::max(0.0, trips - 1) * (in + out);
  }
  const double copies = in + prediction.snapshot_seconds + out;
  prediction.warm_seconds = copies + prediction.steps_seconds;
  prediction.cold_seconds = setup + copies + first_steps;
  return prediction;
}

} // namespace diffbench::bench
