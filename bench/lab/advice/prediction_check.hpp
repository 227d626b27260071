// SPDX-License-Identifier: Apache-2.0
// Predictions beside measurements of the same runs.
#pragma once

#include "comparison_plan.hpp"
#include "cost_profile.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "selection.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What was measured of a run.
enum class Checked {
  warm,
  cold,
  steps, ///< those of a sample, where a whole run was too long
};
inline constexpr NameTable<Checked, 3> checked_names{
    "run", {{{Checked::warm, "warm"}, {Checked::cold, "cold"}, {Checked::steps, "steps"}}}};
[[nodiscard]] constexpr std::string_view to_string(Checked checked) {
  return checked_names.name(checked);
}

struct CheckedPrediction {
  std::string backend;
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t iterations = 0; ///< of the run
  std::int64_t steps = 0;      ///< of what was measured: the same, or what a sample has
  Checked run = Checked::warm;
  double predicted = 0;
  double measured = 0;

  /// Of the measured time: +0.1 is 10 % too slow a prediction.
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

/// Has `checked` count the faster measurement, by steps, where `again` has the same run, as
/// calibration does (less_disturbed()). Runs that it has not are added.
void keep_less_disturbed(std::vector<CheckedPrediction>& checked,
                         std::span<const CheckedPrediction> again);

/// Sizes of the errors.
struct ErrorSummary {
  int count = 0;
  double median = 0;
  double worst = 0;
};

/// Of those of cold runs, or of the others.
[[nodiscard]] ErrorSummary summarize_errors(std::span<const CheckedPrediction> checked,
                                            Checked run);

struct CheckedRun {
  std::vector<CheckedPrediction> predictions;
  std::vector<std::string> troubles; ///< rows that could not be checked, and why
  Outcome outcome;                   ///< of the comparison
};

/// Measures the run of `plan` by all `planned_rows`, which `ways` has in its dtype, in one
/// comparison: a time counts only when the field is the reference's. Throws as measure() does.
[[nodiscard]] CheckedRun check_predictions(std::span<const WayCost> ways,
                                           const ComparisonPlan& plan,
                                           std::span<const PlannedRow> planned_rows,
                                           Progress& progress);

} // namespace diffbench::bench
