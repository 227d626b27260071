// SPDX-License-Identifier: Apache-2.0
// `diffbench cluster predict`: what a run takes on up to thousands of ranks, from what this
// machine, or an assumed one, does on one.
#pragma once

#include "cluster_study.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

struct PredictionPlan {
  ComparisonPlan run; ///< the problem; of one rank where weak
  std::string backend = "simd";
  std::vector<int> ranks;
  bool weak = false;
  std::optional<double> cells_per_second; ///< of a rank, assumed; empty: measured
  std::optional<cluster::EmulatedNetwork>
      network; ///< assumed with it; else emulated between threads
};

struct PredictedRun {
  int ranks = 1;
  Problem problem;
  std::int64_t depth = 1; ///< the best notch
  double seconds = 0;     ///< a step
  double efficiency = 1;  ///< of a rank that is alone with its rows
  std::optional<double> every_step =
      {};                              ///< the efficiency of one exchange a step; none of one rank
  std::optional<double> measured = {}; ///< seconds a step, where so many ranks can run here
  [[nodiscard]] double cells_per_second() const {
    return static_cast<double>(problem.cells()) / seconds;
  }
};

struct ClusterPrediction {
  std::string source; ///< of the costs
  bool assumed = false;
  double cells_per_second = 0; ///< of one rank
  cluster::ExchangeCost exchange;
  std::optional<double> fit_residual;
  ComparisonResult frame;
  std::vector<PredictedRun> runs;
  std::vector<std::string> notes;
};

/// By the model of exchange_model.hpp.
[[nodiscard]] PredictedRun predict_run(const Problem& problem, int ranks, double cells_per_second,
                                       const cluster::ExchangeCost& exchange);

/// Measures one rank and an exchange unless they are assumed, and what can run here to compare
/// with. Throws as measure() does.
[[nodiscard]] ClusterPrediction predict(const PredictionPlan& plan, cluster::Ranks* launched,
                                        Progress& progress);

[[nodiscard]] LabReport prediction_report(const ClusterPrediction& prediction);

} // namespace diffbench::bench
