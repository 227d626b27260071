// SPDX-License-Identifier: Apache-2.0
// Has a launcher of MPI programs (mpirun, srun) started this process, as one of how many ranks?
// Asked before MPI is loaded, so that a program started by hand never loads it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace diffbench::cluster {

/// What a launcher says in the environment.
struct Launcher {
  std::string variable;     ///< that says so
  std::optional<int> ranks; ///< at least 1; empty where the variable is no such number
  int rank = 0;             ///< of this process; 0 where the launcher does not say
};

/// The value of a variable, or null.
using Environment = std::function<const char*(const char* variable)>;

/// Empty without a launcher. An empty variable counts as none.
[[nodiscard]] std::optional<Launcher> launched_ranks(const Environment& environment);
/// Of this process.
[[nodiscard]] std::optional<Launcher> launched_ranks();

/// Throws Unavailable where a launcher has started several ranks and MPI, whose number of ranks is
/// `size`, knows of this one alone: a launcher of another MPI starts as many programs of one rank,
/// each of which would compute the whole and write the same files.
void require_matching_size(const std::optional<Launcher>& launcher, int size);

} // namespace diffbench::cluster
