// Measures what one backend costs on one grid, for the model of cost_model.hpp: cold runs from
// nothing, verified, then calls of more and more steps, and the copies.
//
// A template over the clock, so that the tests run it on a fake one.
#pragma once

#include "contender.hpp"
#include "cost_model.hpp"
#include "diffbench/errors.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// How much is measured of each backend on each grid.
struct CalibrationEffort {
  double seconds = 0.05;      ///< for all repetitions together; three are made in any case
  double longest_round = 0.1; ///< seconds that one repetition of all calls may take
  int cold_runs = 3;
  int repetitions = 9; ///< of each call, as far as the time allows
};

/// Steps of the calls to measure, as far as all fit `seconds` together; at least 1 and 4. Backends
/// that take several steps a sweep show what a sweep costs only in calls of several sweeps, and
/// denormal numbers slow some of the first hundred steps.
[[nodiscard]] inline std::vector<std::int64_t> calls_that_fit(double step_seconds, double seconds) {
  std::vector<std::int64_t> calls{1, 4};
  std::int64_t sum = 5;
  for (const std::int64_t steps : {8, 16, 32, 64, 96, 256, 1024}) {
    sum += steps;
    if (static_cast<double>(sum) * step_seconds <= seconds) {
      calls.push_back(steps);
    }
  }
  return calls;
}

/// The problem on one grid: where its runs start, and what they must come to. There is one field on
/// the host as in a comparison, since more of them would push each other out of the caches.
template <typename T>
struct CalibrationGrid {
  std::int64_t side = 0;
  std::span<T> field;              ///< where runs begin, and leave their results
  std::function<void()> refill;    ///< makes it the initial field
  std::int64_t verified_steps = 1; ///< of each cold run
  std::string sha256;              ///< of the reference after them
};

/// `make()` gives a Contender<T> whose samples start from `grid.field`. Throws Error when a run is
/// not the reference's, Interrupted.
template <typename Clock, typename T, typename Make>
GridCost calibrate_grid(Make make, const CalibrationGrid<T>& grid,
                        const CalibrationEffort& effort) {
  std::unique_ptr<Contender<T>> contender;
  std::vector<double> colds;
  double step_seconds = 0;
  for (int run = 0; run < effort.cold_runs; ++run) {
    double freeing = 0;
    if (contender) {
      freeing = contender->release().value_or(0);
    }
    contender = make();
    grid.refill();
    const FirstRun first = contender->first_run(grid.field, grid.verified_steps,
                                                std::numeric_limits<double>::infinity());
    if (sha256_of_cells(std::span<const T>(grid.field)) != grid.sha256) {
      throw Error("its field differs from the reference");
    }
    colds.push_back(first.phases.wall + freeing);
    step_seconds = first.cost.step_seconds;
    if (interrupted()) {
      throw Interrupted();
    }
  }

  const std::vector<std::int64_t> calls = calls_that_fit(step_seconds, effort.longest_round);
  std::map<std::int64_t, std::vector<double>> seconds;
  std::vector<double> in, out;
  const auto start = Clock::now();
  for (int repetition = 0; repetition < effort.repetitions; ++repetition) {
    if (repetition >= 3 && seconds_since<Clock>(start) > effort.seconds) {
      break;
    }
    grid.refill();
    for (const std::int64_t steps : calls) {
      seconds[steps].push_back(contender->sample(steps).seconds);
      if (interrupted()) {
        throw Interrupted();
      }
    }
    grid.refill();
    const Phases warm = contender->full_run(grid.field, 1);
    in.push_back(warm.h2d.value_or(0));
    out.push_back(warm.d2h.value_or(0));
  }

  GridCost cost{.side = grid.side,
                .threads = contender->provenance().threads,
                .copy_in_seconds = quartiles(in).median,
                .copy_out_seconds = quartiles(out).median,
                .steps = {}};
  for (auto& [steps, samples] : seconds) {
    cost.steps.push_back({.steps = steps, .seconds = quartiles(samples).median});
  }
  cost.cold_seconds = quartiles(colds).median;
  cost.cold_steps = grid.verified_steps;
  derive_setup(cost);
  return cost;
}

} // namespace diffbench::bench
