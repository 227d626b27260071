// SPDX-License-Identifier: Apache-2.0
// A cluster of threads: what the tests of ranks share.
#pragma once

#include "diffbench/cluster/ranks.hpp"
#include "diffbench/cluster/thread_transport.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/verify.hpp"

#include <optional>
#include <utility>

namespace diffbench::cluster {

/// Ranks that serve, and rank 0, which leads them.
class ThreadCluster {
 public:
  explicit ThreadCluster(int ranks, const EmulatedNetwork& network = {}, Tamper tamper = {},
                         double time_limit = 20, const Duty& duty = {.command = "test"},
                         CopyMessage copy = {})
      : ranks_(ranks, network, std::move(tamper), std::move(copy)) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.transport(rank).set_time_limit(time_limit);
    }
    serving_.emplace(ranks_, duty);
    leader_.emplace(ranks_.transport(0), duty);
  }

  [[nodiscard]] Ranks& leader() { return *leader_; }

 private:
  ThreadRanks ranks_;
  std::optional<ServingThreads> serving_;
  std::optional<Ranks> leader_;
};

/// The oracle's field after `steps` from `initial`.
template <typename T>
Field<T> reference(const Problem& problem, const InitialField& initial, std::int64_t steps) {
  Field<T> field(problem.nx, problem.ny);
  fill_initial(problem, initial, field);
  advance_reference(problem, field, steps);
  return field;
}

} // namespace diffbench::cluster
