// SPDX-License-Identifier: Apache-2.0
#include "prediction_check.hpp"

#include "experiment.hpp"
#include "interrupt.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

void keep_less_disturbed(std::vector<CheckedPrediction>& checked,
                         std::span<const CheckedPrediction> again) {
  for (const CheckedPrediction& one : again) {
    const auto same = std::ranges::find_if(checked, [&](const CheckedPrediction& other) {
      return other.backend == one.backend && other.nx == one.nx && other.ny == one.ny &&
             other.iterations == one.iterations &&
             (other.run == Checked::cold) == (one.run == Checked::cold);
    });
    if (same == checked.end()) {
      checked.push_back(one);
    } else if (one.measured * static_cast<double>(same->steps) <
               same->measured * static_cast<double>(one.steps)) {
      *same = one; // samples of the two may differ in length
    }
  }
}

ErrorSummary summarize_errors(std::span<const CheckedPrediction> checked, Checked run) {
  std::vector<double> sizes;
  for (const CheckedPrediction& prediction : checked) {
    if ((prediction.run == Checked::cold) == (run == Checked::cold)) {
      sizes.push_back(std::abs(prediction.error()));
    }
  }
  if (sizes.empty()) {
    return {};
  }
  const Quartiles all = quartiles(sizes);
  return {.count = static_cast<int>(sizes.size()), .median = all.median, .worst = all.max};
}

CheckedRun check_predictions(std::span<const WayCost> ways, const ComparisonPlan& plan,
                             std::span<const PlannedRow> planned_rows, Progress& progress) {
  const ComparisonResult result = measure(plan, planned_rows, progress);
  if (result.interrupted) {
    throw Interrupted();
  }
  const Problem& problem = plan.problem;
  CheckedRun checked{
      .predictions = {}, .troubles = troubles(result), .outcome = outcome_of(result)};
  for (const Row& row : result.rows) {
    const auto way = std::ranges::find(ways, row.name, &WayCost::backend);
    if (!row.ranked() || way == ways.end()) {
      continue;
    }
    const auto predicted = [&](std::int64_t iterations) {
      return predict(*way, {.cells = static_cast<double>(problem.cells()),
                            .iterations = iterations,
                            .snapshot_every = planned_rows.front().snapshot_every});
    };
    auto add = [&](Checked run, std::int64_t steps, double seconds, double measured) {
      checked.predictions.push_back({.backend = row.name,
                                     .nx = problem.nx,
                                     .ny = problem.ny,
                                     .iterations = plan.iterations,
                                     .steps = steps,
                                     .run = run,
                                     .predicted = seconds,
                                     .measured = measured});
    };
    const Prediction prediction = predicted(plan.iterations);
    if (row.warm) {
      add(Checked::warm, plan.iterations, prediction.warm_seconds, row.warm->wall);
    } else {
      // Steps of a short call cost more, so what was called is what is compared.
      const std::int64_t steps = row.samples.front().iterations;
      const Prediction sample = predicted(steps);
      add(Checked::steps, steps, sample.steps_seconds + sample.snapshot_seconds,
          *seconds_per_iteration(row) * static_cast<double>(steps));
    }
    if (row.cold) {
      // A calibration makes the context before it measures.
      add(Checked::cold, plan.iterations, prediction.cold_seconds,
          row.cold->wall - row.cold->context.value_or(0));
    }
  }
  return checked;
}

} // namespace diffbench::bench
