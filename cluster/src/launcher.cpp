// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/launcher.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <algorithm>
#include <cstdlib>

namespace diffbench::cluster {

namespace {

// The most specific first: mpirun within a job of Slurm has variables of both.
struct Sign {
  const char* variable;    ///< its value is the number of ranks
  const char* rank;        ///< its value is the number of this rank
  bool needs_rank = false; ///< is a sign only with that
};
constexpr Sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, // Open MPI's mpirun
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},   // MVAPICH2's
    {"PMI_SIZE", "PMI_RANK"},                         // of MPICH, Intel MPI and Cray
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", true},   // srun
    {"SLURM_NTASKS", "SLURM_PROCID"},                 // of older ones; a batch script has it, too
};
// A process manager that does not say how many ranks there are.
constexpr const char* rank_only = "PMIX_RANK";

bool has(const Environment& environment, const char* variable) {
  const char* value = environment(variable);
  return value != nullptr && *value != '\0';
}

std::optional<int> at_least_one(std::string_view text) {
  const std::optional<int> number = parse_number<int>(text);
  return number && *number >= 1 ? number : std::nullopt;
}

int rank_in(const Environment& environment, const char* variable) {
  const std::optional<int> rank =
      has(environment, variable) ? parse_number<int>(environment(variable)) : std::nullopt;
  return std::max(0, rank.value_or(0));
}

} // namespace

std::optional<Launcher> launched_ranks(const Environment& environment) {
  for (const Sign& sign : signs) {
    if (has(environment, sign.variable) && (!sign.needs_rank || has(environment, sign.rank))) {
      return Launcher{sign.variable, at_least_one(environment(sign.variable)),
                      rank_in(environment, sign.rank)};
    }
  }
  if (has(environment, rank_only)) {
    return Launcher{rank_only, std::nullopt, rank_in(environment, rank_only)};
  }
  return std::nullopt;
}

std::optional<Launcher> launched_ranks() {
  return launched_ranks([](const char* variable) -> const char* { return std::getenv(variable); });
}

void require_matching_size(const std::optional<Launcher>& launcher, int size) {
  if (size == 1 && launcher && launcher->ranks.value_or(1) > 1) {
    throw Unavailable("the launcher has started " + std::to_string(*launcher->ranks) + " ranks (" +
                      launcher->variable +
                      "), but MPI finds this one alone: the launcher belongs to another MPI than "
                      "the one this program was built with; start it with that MPI's mpirun, or "
                      "unset " +
                      launcher->variable + " to run as one process");
  }
}

} // namespace diffbench::cluster
