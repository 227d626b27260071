#include "prediction_check.hpp"

#include "diffbench/errors.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "machine_calibration.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

ErrorSummary summarize_errors(std::span<const CheckedPrediction> checked, bool cold) {
  std::vector<double> sizes;
  for (const CheckedPrediction& prediction : checked) {
    if ((prediction.what == "cold") == cold) {
      sizes.push_back(std::abs(prediction.error()));
    }
  }
  if (sizes.empty()) {
    return {};
  }
  const Quartiles all = quartiles(sizes);
  return {.count = static_cast<int>(sizes.size()), .median = all.median, .worst = all.max};
}

std::vector<CheckedPrediction> check_predictions(std::span<const WayCost> ways,
                                                 const Options& options,
                                                 std::span<const Candidate> candidates,
                                                 Progress& progress) {
  forget_memory();
  const ComparisonResult result = measure(options, candidates, progress);
  if (result.interrupted) {
    throw Interrupted();
  }
  const Problem& problem = options.problem;
  std::vector<CheckedPrediction> checked;
  for (const Row& row : result.rows) {
    if (row.verification && !row.verification->bitwise) {
      throw Error(fmt::format("{}: its field differs from the reference", row.name));
    }
    const auto way = std::find_if(ways.begin(), ways.end(),
                                  [&](const WayCost& w) { return w.backend == row.name; });
    if (!row.ranked() || way == ways.end()) {
      continue;
    }
    const Prediction prediction = predict(*way, {.cells = static_cast<double>(problem.cells()),
                                                 .iterations = options.iterations,
                                                 .snapshot_every = options.record.snapshot_every});
    auto add = [&](const char* what, double predicted, double measured) {
      checked.push_back({.backend = row.name,
                         .nx = problem.nx,
                         .ny = problem.ny,
                         .iterations = options.iterations,
                         .what = what,
                         .predicted = predicted,
                         .measured = measured});
    };
    if (row.warm) {
      add("warm", prediction.warm_seconds, row.warm->wall);
    } else {
      add("steps", prediction.steps_seconds,
          *seconds_per_iteration(row) * static_cast<double>(options.iterations));
    }
    if (row.cold) {
      add("cold", prediction.cold_seconds, row.cold->wall);
    }
  }
  return checked;
}

} // namespace diffbench::bench
