// SPDX-License-Identifier: Apache-2.0
// This process as one of the ranks that a launcher such as mpirun has started.
#pragma once

#include "diffbench/cluster/ranks.hpp"
#include "diffbench/cluster/transport.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace diffbench::bench {

/// Thrown on other ranks than 0 where rank 0 says what has gone wrong.
struct SaidByRank0 {
  int exit_code;
};

class LaunchedRanks {
 public:
  /// Null without a launcher; MPI is then never loaded. Collective: returns when all ranks have
  /// met. Throws Unavailable where this program has no MPI, or the launcher belongs to another one.
  /// The time limit of `arguments`, those of the program, holds from the start.
  [[nodiscard]] static std::unique_ptr<LaunchedRanks> join(std::span<const std::string> arguments);

  /// Rank 0 runs the program, the others serve it.
  [[nodiscard]] bool leads() const { return transport_->rank() == 0; }
  /// Of rank 0, once: collective with serve(). Throws InvalidInput where ranks differ; any other
  /// error ends all.
  [[nodiscard]] cluster::Ranks& lead();
  /// Blocks until rank 0 has ended. Throws SaidByRank0 where ranks differ; any other error ends
  /// all.
  void serve();

 private:
  LaunchedRanks(std::unique_ptr<cluster::Transport> transport, cluster::Duty duty);

  std::unique_ptr<cluster::Transport> transport_;
  cluster::Duty duty_;
  std::optional<cluster::Ranks> ranks_;
};

} // namespace diffbench::bench
