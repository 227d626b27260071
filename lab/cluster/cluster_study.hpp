// SPDX-License-Identifier: Apache-2.0
// `diffbench cluster strong|weak|depth`: one backend on several ranks, as threads of this process
// with a network of no time or an emulated one between them, or as all that a launcher has started.
#pragma once

#include "comparison_plan.hpp"
#include "diffbench/cluster/exchange_model.hpp"
#include "diffbench/cluster/ranks.hpp"
#include "diffbench/cluster/thread_transport.hpp"
#include "lab_report.hpp"
#include "progress.hpp"
#include "result.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Ranks to measure with: those of the launcher, or threads of this process.
class RankTeam {
 public:
  RankTeam(int ranks, const cluster::EmulatedNetwork& network);
  explicit RankTeam(cluster::Ranks& launched) : ranks_(&launched) {}

  [[nodiscard]] cluster::Ranks& ranks() { return *ranks_; }

 private:
  // In this order: the others serve until the one that leads them is gone.
  std::unique_ptr<cluster::ThreadRanks> threads_;
  std::unique_ptr<cluster::ServingThreads> serving_;
  std::unique_ptr<cluster::Ranks> leader_;
  cluster::Ranks* ranks_ = nullptr;
};

enum class ClusterQuestion {
  strong, ///< the same grid on more ranks
  weak,   ///< as many times the rows
  depth,  ///< the same ranks, deeper halos
};
[[nodiscard]] std::string_view to_string(ClusterQuestion question);

struct ClusterPlan {
  ComparisonPlan run;          ///< weak: the problem of one rank
  std::int64_t halo_depth = 0; ///< for strong and weak; 0: chosen by trying
  ClusterQuestion question = ClusterQuestion::strong;
  std::string backend = "simd";
  std::vector<int> ranks = {}; ///< ascending; one number for depth
  cluster::EmulatedNetwork network = {};
};

/// What an exchange of halos takes, fitted to exchanges of several sizes.
struct ExchangeFit {
  cluster::ExchangeCost cost;
  double median_residual = 0; ///< of the fit
};

/// Of a row of the study.
struct ClusterPoint {
  Problem problem;
  int ranks = 0; ///< 0: without ranks, the backend as the comparison has it
  /// Seconds a step of each rank: medians over the runs of the row.
  std::vector<cluster::RankTimes> profile = {};
  std::optional<double> modelled_seconds = {}; ///< a step; of the question depth
};

struct ClusterStudy {
  ClusterQuestion question = ClusterQuestion::strong;
  std::string backend;
  std::string transport;
  ComparisonResult frame = {};              ///< what all rows have in common, and a row a point
  std::vector<ClusterPoint> points = {};    ///< the first is without ranks
  std::optional<ExchangeFit> exchange = {}; ///< of the question depth
};

/// All rows verified. Throws as measure() does, and InvalidInput where the rows of the grid do not
/// do for the ranks.
[[nodiscard]] ClusterStudy measure_cluster(const ClusterPlan& plan, cluster::Ranks* launched,
                                           Progress& progress);

/// What exchanges of 1 KiB up to 4 MiB or `largest` take, whichever is less.
class Exchanges {
 public:
  explicit Exchanges(std::int64_t largest);
  /// Adds to what was measured before.
  void measure(cluster::Ranks& ranks);
  /// Through the medians.
  [[nodiscard]] ExchangeFit fit() const;

 private:
  std::map<std::int64_t, std::vector<double>> seconds_; ///< by bytes
};

[[nodiscard]] LabReport cluster_report(const ClusterStudy& study);

} // namespace diffbench::bench
