// SPDX-License-Identifier: Apache-2.0
#include "planning.hpp"

#include <fmt/format.h>

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

/// What a first run or the reference may take before its steps are cut down: at least, where the
/// budget is not what the user waits; and where it is, when too little is left of it.
constexpr double usual_limit = 5;
constexpr double least_limit = 0.5;

/// floor(seconds / each) in [0, most], also where the quotient does not fit an integer.
std::int64_t how_many(double seconds, double each, std::int64_t most) {
  const double count = std::floor(seconds / std::max(each, shortest_step));
  if (!(count >= 1)) {
    return 0;
  }
  return count >= static_cast<double>(most) ? most : static_cast<std::int64_t>(count);
}

} // namespace

SamplePlan plan_samples(const RowCost& cost, double row_budget_seconds, std::int64_t max_iterations,
                        std::int64_t sweep) {
  auto iterations_in = [&](int rounds) {
    const std::int64_t count = how_many(row_budget_seconds / rounds - cost.reset_seconds,
                                        cost.step_seconds, max_iterations);
    return count < sweep || count == max_iterations ? count : count / sweep * sweep;
  };
  const std::int64_t least = std::min(max_iterations, sweep);
  const std::int64_t enough =
      std::max(least, std::min(max_iterations, enough_iterations / sweep * sweep));
  for (int rounds : {rounds_wanted, rounds_wanted / 2, rounds_few}) {
    if (const std::int64_t iterations = iterations_in(rounds); iterations >= enough) {
      return {.rounds = rounds, .iterations = iterations, .unit = least};
    }
  }
  // Where the reset itself is dear, fewer samples of many steps, not many of one: a backend that
  // takes several steps a sweep is another backend when it is asked for one.
  int rounds = rounds_few;
  while (rounds > 1 &&
         (rounds * cost.reset_seconds > row_budget_seconds / 2 || iterations_in(rounds) < least)) {
    --rounds;
  }
  return {.rounds = rounds,
          .iterations = std::max<std::int64_t>(1, iterations_in(rounds)),
          .unit = least};
}

bool cuts_a_sweep(const SamplePlan& plan, std::int64_t max_iterations, std::int64_t sweep) {
  return plan.iterations < std::min(max_iterations, sweep);
}

SamplePlan in_whole_periods(SamplePlan plan, std::int64_t period, std::int64_t max_iterations) {
  if (period > 0) {
    const std::int64_t periods = std::max<std::int64_t>(1, plan.iterations / period);
    plan.iterations = std::min(periods * period, max_iterations);
    plan.unit = period;
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

std::int64_t next_round_number(std::int64_t steps) {
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (factor * power > steps) {
        return factor * power;
      }
    }
  }
}

double TimeTable::reference() const {
  constexpr double share = 0.15;
  return binds_ ? std::max(least_limit, share * budget_) : std::max(usual_limit, budget_);
}

TimeTable::FirstRuns TimeTable::first_runs(double spent, std::int64_t rows) const {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, rows));
  if (!binds_) {
    const double share = budget_ / count;
    return {.longest = std::max(usual_limit, share), .all = share};
  }
  // They come slowest first, so a row may take more than its share; it repeats within that.
  constexpr double share_of_all = 0.5;
  constexpr double rows_of_longest = 3;
  const double left = std::max(0.0, share_of_all * budget_ - spent);
  return {.longest = std::max(least_limit, left / std::min(count, rows_of_longest)),
          .all = left / count};
}

TimeTable::Rounds TimeTable::rounds(double spent, bool until_precise) const {
  if (!binds_) {
    return {.planned = budget_, .limit = (until_precise ? 1 : 2) * budget_};
  }
  constexpr double share_of_left = 0.8;
  const double left = std::max(0.0, share_of_left * (budget_ - spent));
  return {.planned = left, .limit = left};
}

double TimeTable::warm_runs(double spent, std::int64_t rows) const {
  const double all = binds_ ? std::max(0.0, budget_ - spent) : budget_;
  return all / static_cast<double>(std::max<std::int64_t>(1, rows));
}

double TimeTable::longest_warm_run(double spent) const {
  return binds_ ? budget_ - spent : usual_limit;
}

std::string limit_text(double budget_seconds, bool binds) {
  return binds ? fmt::format("--budget {:g}", budget_seconds) : "--budget SECONDS sets a limit";
}

double expected_seconds(double budget_seconds, bool binds, std::int64_t rows, double cells,
                        std::int64_t iterations) {
  constexpr double cell_seconds = 1e-9;
  constexpr double start_seconds = 0.5; // of the program, and the copy bandwidth
  const double run = cells * static_cast<double>(iterations) * cell_seconds;
  const auto count = static_cast<double>(rows);
  const double rounds = std::min(budget_seconds, count * rounds_wanted * run);
  const double others = start_seconds + std::min(run, std::max(usual_limit, budget_seconds)) +
                        2 * count * std::min(run, usual_limit);
  return binds ? std::min(budget_seconds, rounds + others) : rounds + others;
}

} // namespace diffbench::bench
