// SPDX-License-Identifier: Apache-2.0
// Measures what one backend costs on one grid, for the model of cost_model.hpp: cold runs from
// nothing, verified, then calls of more and more steps, and the copies.
//
// A template over the clock, so that the tests run it on a fake one.
#pragma once

#include "cost_model.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "planning.hpp"
#include "statistics.hpp"
#include "timed_solve.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// How much is measured of each backend on each grid.
struct CalibrationEffort {
  double seconds = 0.05;      ///< for all repetitions together; three are made in any case
  double longest_round = 0.1; ///< seconds that one repetition of all calls may take
  int repetitions = 9;        ///< of each call, as far as the time allows
  /// Steps of the calls, one and more; empty: as many of next_call() as longest_round affords.
  std::vector<std::int64_t> calls = {};
};

/// Steps of the call to measure after those that were made, as far as all fit `seconds` together; 1
/// and 4 in any case. Backends that take several steps a sweep show what a sweep costs only in
/// calls of several sweeps, and denormal numbers slow some of the first hundred steps.
[[nodiscard]] inline std::optional<std::int64_t> next_call(std::span<const StepsCost> made,
                                                           double seconds) {
  constexpr std::array<std::int64_t, 9> calls{1, 4, 8, 16, 32, 64, 96, 256, 1024};
  if (made.size() == calls.size()) {
    return std::nullopt;
  }
  const std::int64_t next = calls[made.size()];
  if (made.size() < 2) {
    return next;
  }
  double sum =
      made.back().seconds * static_cast<double>(next) / static_cast<double>(made.back().steps);
  for (const StepsCost& cost : made) {
    sum += cost.seconds;
  }
  return sum <= seconds ? std::optional(next) : std::nullopt;
}

/// What a run from the initial field must come to.
struct ExpectedRun {
  std::int64_t steps = 1;
  std::string sha256; ///< of the reference after them
};

/// The problem on one grid: where its runs start, and what they must come to. There is one field on
/// the host as in a comparison, since more of them would push each other out of the caches.
template <typename T>
struct CalibrationGrid {
  std::int64_t side = 0;
  std::span<T> field;           ///< where runs begin, and leave their results
  std::function<void()> refill; ///< makes it the initial field
  ExpectedRun proof;            ///< the first run, which has no time
  ExpectedRun one_step;         ///< the cold runs; more steps would hide what else they take
};

/// `make()` gives a TimedSolve<T> whose samples start from `grid.field`. Throws Error when a run is
/// not the reference's, Interrupted.
template <typename Clock, typename T, typename Make>
GridCost calibrate_grid(Make make, const CalibrationGrid<T>& grid,
                        const CalibrationEffort& effort) {
  std::unique_ptr<TimedSolve<T>> timed;
  auto cold_run = [&](const ExpectedRun& expected) {
    const double freeing = timed ? timed->release().value_or(0) : 0;
    timed = make();
    grid.refill();
    const FirstRun run =
        timed->first_run(grid.field, expected.steps, std::numeric_limits<double>::infinity());
    if (sha256_of_cells(std::span<const T>(grid.field)) != expected.sha256) {
      throw Error("its field differs from the reference");
    }
    if (interrupted()) {
      throw Interrupted();
    }
    return run.phases.wall + freeing;
  };
  (void)cold_run(grid.proof);
  const Stopwatch<Clock> cold_watch;
  std::vector<double> colds{cold_run(grid.one_step)};
  const int count = cold_runs_of_median(cold_watch.seconds());
  while (static_cast<int>(colds.size()) < count) { // as many as a comparison makes
    colds.push_back(cold_run(grid.one_step));
  }

  std::vector<std::int64_t> calls = effort.calls;
  std::map<std::int64_t, std::vector<double>> seconds;
  std::vector<double> in, out;
  auto time_call = [&](std::int64_t steps) {
    if (interrupted()) {
      throw Interrupted();
    }
    return seconds[steps].emplace_back(timed->sample(steps).seconds);
  };
  const Stopwatch<Clock> watch;
  for (int repetition = 0; repetition < effort.repetitions; ++repetition) {
    if (repetition >= 3 && watch.seconds() > effort.seconds) {
      break;
    }
    grid.refill();
    for (const std::int64_t steps : calls) {
      time_call(steps);
    }
    if (calls.empty()) {
      std::vector<StepsCost> made;
      while (const auto steps = next_call(made, effort.longest_round)) {
        made.push_back({*steps, time_call(*steps)});
        calls.push_back(*steps);
      }
    }
    grid.refill();
    // A warm run of a comparison follows another one, which has left its fields in the caches.
    (void)timed->full_run(grid.field, 1);
    const Phases warm = timed->full_run(grid.field, 1);
    in.push_back(warm.h2d.value_or(0));
    out.push_back(warm.d2h.value_or(0));
  }

  GridCost cost{.side = grid.side,
                .threads = timed->provenance().threads,
                .copy_in_seconds = quartiles(in).median,
                .copy_out_seconds = quartiles(out).median,
                .steps = {}};
  for (auto& [steps, samples] : seconds) {
    cost.steps.push_back({.steps = steps, .seconds = quartiles(samples).median});
  }
  cost.cold_seconds = quartiles(colds).median;
  derive_setup(cost);
  return cost;
}

} // namespace diffbench::bench
