// SPDX-License-Identifier: Apache-2.0
#include "cluster_study.hpp"

#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "linear_cost.hpp"
#include "point_rows.hpp"
#include "selection.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace diffbench::bench {

namespace {

/// Exchanges of one size are timed for about so long.
constexpr double exchange_seconds = 0.02;

PlannedRow plain_row(const ClusterPlan& plan) {
  const BackendInfo backend = require_backend(plan.backend, plan.run.session.device);
  return {.backend = backend,
          .probe = backend.probe(plan.run.session.device),
          .session = plan.run.session,
          .label = fmt::format("{}, no ranks", plan.backend)};
}

PlannedRow ranked_row(const ClusterPlan& plan, cluster::Ranks& ranks, std::int64_t depth) {
  PlannedRow planned = on_ranks(plain_row(plan), ranks, depth);
  planned.label =
      fmt::format("{}, {} rank{}", plan.backend, ranks.size(), ranks.size() == 1 ? "" : "s");
  if (plan.question == ClusterQuestion::depth) {
    planned.label += fmt::format(", depth {}", depth);
  }
  return planned;
}

/// What each rank took a step, in every run of a row.
class Profiles {
 public:
  Profiles() = default;
  Profiles(const Profiles&) = delete;
  Profiles& operator=(const Profiles&) = delete;
  ~Profiles() {
    for (cluster::Ranks* ranks : heard_) {
      ranks->on_advance({});
    }
  }

  /// Listens to the ranks, which must outlive this.
  void listen(cluster::Ranks& ranks) {
    heard_.push_back(&ranks);
    ranks.on_advance([this, &ranks](const cluster::RankJob& job, std::int64_t steps,
                                    const std::vector<cluster::RankTimes>& times) {
      std::vector<cluster::RankTimes> of_step = times;
      for (cluster::RankTimes& rank : of_step) {
        for (const auto part : parts) {
          rank.*part /= static_cast<double>(steps);
        }
      }
      runs_[{&ranks, job.depth, steps}].push_back(std::move(of_step));
    });
  }

  /// The median of each part on each rank, over the runs of so many steps, or of the most up to
  /// that where those were cut; empty where none ran.
  [[nodiscard]] std::vector<cluster::RankTimes> median_of_runs(const cluster::Ranks& ranks,
                                                               std::int64_t depth,
                                                               std::int64_t steps) const {
    auto found = runs_.upper_bound({&ranks, depth, steps});
    if (found == runs_.begin()) {
      return {};
    }
    --found;
    if (std::get<0>(found->first) != &ranks || std::get<1>(found->first) != depth) {
      return {};
    }
    std::vector<cluster::RankTimes> medians(found->second.front().size());
    for (std::size_t rank = 0; rank < medians.size(); ++rank) {
      for (const auto part : parts) {
        std::vector<double> seconds;
        seconds.reserve(found->second.size());
        for (const auto& run : found->second) {
          seconds.push_back(run[rank].*part);
        }
        medians[rank].*part = median_of(std::move(seconds));
      }
    }
    return medians;
  }

 private:
  static constexpr std::array parts = {&cluster::RankTimes::compute, &cluster::RankTimes::copy,
                                       &cluster::RankTimes::wait, &cluster::RankTimes::pace};
  std::vector<cluster::Ranks*> heard_;
  /// By ranks, depth of halos, steps.
  using Runs = std::tuple<const cluster::Ranks*, std::int64_t, std::int64_t>;
  std::map<Runs, std::vector<std::vector<cluster::RankTimes>>> runs_;
};

/// Without ranks, and on all teams with halos of each depth.
void measure_rows(const ClusterPlan& plan, const std::vector<std::unique_ptr<RankTeam>>& teams,
                  const std::vector<std::int64_t>& depths, const cluster::Ranks* launched,
                  ClusterStudy& study, Progress& progress) {
  std::vector<PointRow> rows{{plan.run.problem, plain_row(plan)}};
  Profiles profiles;
  for (const std::unique_ptr<RankTeam>& team : teams) {
    profiles.listen(team->ranks());
    for (const std::int64_t depth : depths) {
      rows.push_back({plan.run.problem, ranked_row(plan, team->ranks(), depth)});
      rows.back().problem.ny *= plan.question == ClusterQuestion::weak ? team->ranks().size() : 1;
    }
  }
  ComparisonPlan run = plan.run;
  run.backends = {plan.backend};
  run.baseline = rows.front().planned.label;
  run.copy_roof = false;
  study.frame = measure_points(std::move(run), rows, progress, launched);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const cluster::Ranks* const ranks = rows[i].planned.ranks;
    const Row& row = study.frame.rows[i];
    ClusterPoint& point = study.points.emplace_back(
        ClusterPoint{rows[i].problem, ranks != nullptr ? ranks->size() : 0});
    if (ranks != nullptr && row.ranked()) {
      point.profile = profiles.median_of_runs(*ranks, row.provenance.halo_depth.value_or(1),
                                              row.samples.front().iterations);
    }
  }
}

/// Halos up to the smallest rank's rows.
std::vector<std::int64_t> depths_for(const Problem& problem, int ranks) {
  const std::int64_t deepest = cluster::deepest_halo(problem, ranks);
  std::vector<std::int64_t> depths;
  for (const std::int64_t depth : cluster::depth_notches) {
    if (depth <= deepest) {
      depths.push_back(depth);
    }
  }
  return depths;
}

/// The ranks' pace, and an exchange by the fit, among the steps between two.
void model_depths(ClusterStudy& study) {
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    ClusterPoint& point = study.points[i];
    if (!point.profile.empty()) {
      const double pace = std::ranges::max(point.profile, {}, &cluster::RankTimes::pace).pace;
      const cluster::ExchangeCost& cost = study.exchange->cost;
      const auto depth = static_cast<double>(study.frame.rows[i].provenance.halo_depth.value_or(1));
      const double message = depth * static_cast<double>(point.problem.nx) *
                             static_cast<double>(point.problem.element_bytes());
      point.modelled_seconds = pace + (cost.seconds + cost.seconds_per_byte * message) / depth;
    }
  }
}

} // namespace

RankTeam::RankTeam(int ranks, const cluster::EmulatedNetwork& network)
    : threads_(std::make_unique<cluster::ThreadRanks>(ranks, network)) {
  const cluster::Duty duty{.command = "", .stop = interrupted};
  serving_ = std::make_unique<cluster::ServingThreads>(*threads_, duty);
  leader_ = std::make_unique<cluster::Ranks>(threads_->transport(0), duty);
  ranks_ = leader_.get();
}

std::string_view to_string(ClusterQuestion question) {
  switch (question) {
    case ClusterQuestion::strong: return "strong";
    case ClusterQuestion::weak: return "weak";
    case ClusterQuestion::depth: break;
  }
  return "depth";
}

Exchanges::Exchanges(std::int64_t largest) {
  constexpr std::int64_t smallest = 1 << 10;
  constexpr std::int64_t enough = 4 << 20;
  for (std::int64_t bytes = smallest; bytes <= std::clamp(largest, 16 * smallest, enough);
       bytes *= 4) {
    seconds_.try_emplace(bytes);
  }
}

void Exchanges::measure(cluster::Ranks& ranks) {
  constexpr int rounds = 3;
  for (auto& [bytes, seconds] : seconds_) {
    const double once = ranks.exchange_seconds(bytes, 1);
    const auto times =
        static_cast<std::int64_t>(std::clamp(exchange_seconds / std::max(once, 1e-6), 3.0, 1e4));
    for (int round = 0; round < rounds; ++round) {
      seconds.push_back(ranks.exchange_seconds(bytes, times));
    }
  }
}

ExchangeFit Exchanges::fit() const {
  std::vector<CostPoint> points;
  for (const auto& [bytes, seconds] : seconds_) {
    points.push_back({bytes, median_of(seconds)});
  }
  if (const auto fit = fit_linear_cost(points)) {
    return {.cost = {.seconds = fit->latency, .seconds_per_byte = 1 / fit->bytes_per_second},
            .median_residual = fit->median_residual};
  }
  // Times that do not grow with the size: all is latency.
  std::vector<double> seconds;
  std::vector<double> residuals;
  std::ranges::transform(points, std::back_inserter(seconds), &CostPoint::seconds);
  const double latency = median_of(seconds);
  std::ranges::transform(seconds, std::back_inserter(residuals),
                         [latency](double each) { return std::abs(latency / each - 1); });
  return {.cost = {.seconds = latency, .seconds_per_byte = 0},
          .median_residual = median_of(std::move(residuals))};
}

ClusterStudy measure_cluster(const ClusterPlan& asked, cluster::Ranks* launched,
                             Progress& progress) {
  const Stopwatch<> watch;
  ClusterPlan plan = asked;
  std::vector<std::unique_ptr<RankTeam>> teams;
  for (const int ranks : plan.ranks) {
    Problem problem = plan.run.problem;
    problem.ny *= plan.question == ClusterQuestion::weak ? ranks : 1;
    validate(problem, Stability::waived); // weak: of so many rows
    cluster::require_halo(problem, ranks, plan.halo_depth);
    teams.push_back(launched != nullptr && ranks == launched->size()
                        ? std::make_unique<RankTeam>(*launched)
                        : std::make_unique<RankTeam>(ranks, plan.network));
  }
  cluster::Ranks& last = teams.back()->ranks();
  ClusterStudy study{.question = plan.question,
                     .backend = plan.backend,
                     .transport = last.transport().description()};
  if (plan.question != ClusterQuestion::depth) {
    measure_rows(plan, teams, {plan.halo_depth}, launched, study, progress);
    return study;
  }
  const std::vector<std::int64_t> depths = depths_for(plan.run.problem, last.size());
  const std::int64_t largest =
      depths.back() * plan.run.problem.nx * plan.run.problem.element_bytes();
  // Before and after the rows, which take long enough for a machine to change.
  Exchanges exchanges(largest);
  progress.stage("exchange of halos");
  exchanges.measure(last);
  if (plan.run.budget_binds) { // they come once more
    constexpr double least_share = 0.5;
    plan.run.budget_seconds = std::max(least_share * plan.run.budget_seconds,
                                       plan.run.budget_seconds - 2 * watch.seconds());
  }
  measure_rows(plan, teams, depths, launched, study, progress);
  exchanges.measure(last);
  study.exchange = exchanges.fit();
  model_depths(study);
  return study;
}

} // namespace diffbench::bench
