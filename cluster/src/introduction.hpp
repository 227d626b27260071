// SPDX-License-Identifier: Apache-2.0
// How ranks make sure that they are alike, and who shares a machine with whom.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <string>

namespace diffbench::cluster {

/// What all ranks say of themselves, in sum.
struct Company {
  int threads_per_rank = 1; ///< of this rank: its share of the CPUs of its machine
  double cpus_per_rank = 1; ///< on the machine where these are fewest
  int ranks_on_machine = 1; ///< of this rank
};

/// Collective. Throws InvalidInput, on all ranks, where one differs from rank 0.
[[nodiscard]] Company introduce(Transport& transport, const std::string& command);

} // namespace diffbench::cluster
