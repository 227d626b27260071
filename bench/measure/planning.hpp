// How the time budget is shared out: arithmetic only, so that it can be tested.
#pragma once

#include <cstdint>

namespace diffbench::bench {

/// What a row costs, as its first run showed.
struct RowCost {
  double reset_seconds = 0; ///< back to the initial field
  double step_seconds = 0;
};

struct SamplePlan {
  int rounds = 1;              ///< samples to take
  std::int64_t iterations = 1; ///< steps in each
  double precision =
      0; ///< with which they are enough, see is_precise(); 0: only when all are there

  bool operator==(const SamplePlan&) const = default;
};

/// Samples wanted of every row, and the fewest that still give quartiles.
inline constexpr int rounds_wanted = 20;
inline constexpr int rounds_few = 5;
/// Where rows stop when they are precise enough, and none is.
inline constexpr int rounds_most = 1000;

/// Samples that fit `row_budget_seconds`, resets included. As many rounds as wanted where a sample
/// then holds the whole run or at least enough steps to hide its start; fewer and longer samples
/// otherwise, since a backend that blocks in time is slow on short ones. At least one step.
[[nodiscard]] SamplePlan plan_samples(const RowCost& cost, double row_budget_seconds,
                                      std::int64_t max_iterations);

/// The same with samples of whole `period`s, 0 or more steps, since what comes once a period must
/// have its full share of a sample: of copies every 100 steps, 750 steps hold 7 instead of 7.5, and
/// 50 none. At least one period, as far as max_iterations allows.
[[nodiscard]] SamplePlan in_whole_periods(SamplePlan plan, std::int64_t period,
                                          std::int64_t max_iterations);

/// Runs of which the one of median wall time is reported, where one takes `seconds` with all that
/// belongs to it: `fewest`, and of short ones up to `most`, as far as 50 ms allow. What they start
/// from becomes cheaper with the first few, so equal runs are only those that are equally many.
[[nodiscard]] int runs_of_median(double seconds, int fewest, int most);
/// The same of runs from nothing.
[[nodiscard]] int cold_runs_of_median(double seconds);

/// `steps`, or where they would take longer than `limit_seconds`: the largest 1, 2 or 5 times a
/// power of ten that fits, at least 1. Round numbers let rows share a reference.
[[nodiscard]] std::int64_t affordable_steps(std::int64_t steps, double step_seconds,
                                            double limit_seconds);

} // namespace diffbench::bench
