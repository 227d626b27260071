#include "planning.hpp"

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

namespace {

/// Below this many steps the start of a sample (waking threads, a cold first sweep) shows.
constexpr std::int64_t enough_iterations = 100;
/// The clock cannot resolve less; also keeps the divisions below finite.
constexpr double shortest_step = 1e-9;

/// For repeated runs of one row: nobody waits for it.
constexpr double short_runs_seconds = 0.05;
constexpr int fewest_cold_runs = 3;
constexpr int most_cold_runs = 25;

/// floor(seconds / each) in [0, most], also where the quotient does not fit an integer.
std::int64_t how_many(double seconds, double each, std::int64_t most) {
  const double count = std::floor(seconds / std::max(each, shortest_step));
  if (!(count >= 1)) {
    return 0;
  }
  return count >= static_cast<double>(most) ? most : static_cast<std::int64_t>(count);
}

} // namespace

SamplePlan plan_samples(const RowCost& cost, double row_budget_seconds,
                        std::int64_t max_iterations) {
  auto iterations_in = [&](int rounds) {
    return how_many(row_budget_seconds / rounds - cost.reset_seconds, cost.step_seconds,
                    max_iterations);
  };
  const std::int64_t enough = std::min(max_iterations, enough_iterations);
  for (int rounds : {rounds_wanted, rounds_wanted / 2, rounds_few}) {
    if (const std::int64_t iterations = iterations_in(rounds); iterations >= enough) {
      return {.rounds = rounds, .iterations = iterations};
    }
  }
  // Where the reset itself is dear, fewer samples of many steps, not many of one: a backend that
  // takes several steps a sweep is another backend when it is asked for one.
  int rounds = rounds_few;
  while (rounds > 1 &&
         (rounds * cost.reset_seconds > row_budget_seconds / 2 || iterations_in(rounds) < 1)) {
    --rounds;
  }
  return {.rounds = rounds, .iterations = std::max<std::int64_t>(1, iterations_in(rounds))};
}

SamplePlan in_whole_periods(SamplePlan plan, std::int64_t period, std::int64_t max_iterations) {
  if (period > 0) {
    const std::int64_t periods = std::max<std::int64_t>(1, plan.iterations / period);
    plan.iterations = std::min(periods * period, max_iterations);
  }
  return plan;
}

int runs_of_median(double seconds, int fewest, int most) {
  return std::max(fewest, static_cast<int>(how_many(short_runs_seconds, seconds, most)));
}

int cold_runs_of_median(double seconds) {
  return runs_of_median(seconds, fewest_cold_runs, most_cold_runs);
}

std::int64_t affordable_steps(std::int64_t steps, double step_seconds, double limit_seconds) {
  const std::int64_t fitting = how_many(limit_seconds, step_seconds, steps);
  if (fitting >= steps) {
    return steps;
  }
  std::int64_t rounded = 1;
  for (std::int64_t power = 1; power <= fitting / 10; power *= 10) {
    rounded = power * 10;
  }
  for (const std::int64_t factor : {5, 2}) {
    if (rounded * factor <= fitting) {
      return rounded * factor;
    }
  }
  return rounded;
}

} // namespace diffbench::bench
