// SPDX-License-Identifier: Apache-2.0
// How the time budget is shared out: arithmetic only, so that it can be tested.
#pragma once

#include <cstdint>
#include <string>

namespace diffbench::bench {

/// What a row costs, as its first run showed.
struct RowCost {
  double reset_seconds = 0; ///< back to the initial field
  double step_seconds = 0;
};

struct SamplePlan {
  int rounds = 1;              ///< samples to take
  std::int64_t iterations = 1; ///< steps in each
  std::int64_t unit = 1;       ///< steps of which a sample has whole multiples
  std::int64_t longest = 0;    ///< steps of the first ones, where later ones are shorter
  double precision =
      0; ///< with which they are enough, see is_precise(); 0: only when all are there

  bool operator==(const SamplePlan&) const = default;
};

/// Samples wanted of every row, and the fewest that still give quartiles.
inline constexpr int rounds_wanted = 20;
inline constexpr int rounds_few = 5;
/// Where rows stop when they are precise enough, and none is.
inline constexpr int rounds_most = 4000;

/// Samples that fit `row_budget_seconds`, resets included. As many rounds as wanted where a sample
/// then holds the whole run or at least enough steps to hide its start; fewer and longer samples
/// otherwise, since a backend that blocks in time is slow on short ones. A row that takes `sweep`
/// steps at once has whole sweeps in a sample, or the whole run: where the budget is short fewer
/// samples, and fewer steps than a sweep only where not one fits. At least one step.
[[nodiscard]] SamplePlan plan_samples(const RowCost& cost, double row_budget_seconds,
                                      std::int64_t max_iterations, std::int64_t sweep = 1);
/// Whether that plan's samples hold no whole sweep, so that they show the row slower than it is.
[[nodiscard]] bool cuts_a_sweep(const SamplePlan& plan, std::int64_t max_iterations,
                                std::int64_t sweep);

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
/// The least of these round numbers that is larger.
[[nodiscard]] std::int64_t next_round_number(std::int64_t steps);

/// What the parts of a comparison may take, in seconds. A budget that was asked for binds: it is
/// all that the user waits, and each part has a share of what is left of it, so results are
/// verified after fewer steps where the budget is small. Otherwise it is that of the timing rounds,
/// and verification has what it usually takes. `spent` is the time since the start.
class TimeTable {
 public:
  TimeTable(double budget_seconds, bool binds) : budget_(budget_seconds), binds_(binds) {}

  [[nodiscard]] bool binds() const { return binds_; }
  [[nodiscard]] double reference() const;
  /// Of a row with others of `rows` still to come after it: its longest run, and all that repeat
  /// it.
  struct FirstRuns {
    double longest = 0;
    double all = 0;
  };
  [[nodiscard]] FirstRuns first_runs(double spent, std::int64_t rows) const;
  /// All rounds: as they are planned, and when they end in any case.
  struct Rounds {
    double planned = 0;
    double limit = 0;
  };
  [[nodiscard]] Rounds rounds(double spent, bool until_precise) const;
  /// The warm runs of a row, as above. `rows` are all of them where the budget does not bind.
  [[nodiscard]] double warm_runs(double spent, std::int64_t rows) const;
  /// One warm run of a row without which others cannot be judged.
  [[nodiscard]] double longest_warm_run(double spent) const;

 private:
  double budget_;
  bool binds_;
};

/// About what a comparison of so many rows takes where `cells` x `iterations` are a run, before
/// anything was measured: a row of middling speed.
[[nodiscard]] double expected_seconds(double budget_seconds, bool binds, std::int64_t rows,
                                      double cells, std::int64_t iterations);

/// How the wait is limited: "--budget 20", or how to set it.
[[nodiscard]] std::string limit_text(double budget_seconds, bool binds);

} // namespace diffbench::bench
