// SPDX-License-Identifier: Apache-2.0
#include "sbatch.hpp"

#include "cluster/prediction.hpp"
#include "diffbench/errors.hpp"
#include "progress.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

namespace diffbench::bench {

namespace {

/// How many ranks; 0: it is not such a list.
int ranks_of(const std::string& slurm) {
  static const std::regex list(R"(([a-z-]+=[\w:.@/+-]+)(,[a-z-]+=[\w:.@/+-]+)*)");
  static const std::regex count(R"((^|,)ntasks=([1-9]\d{0,4})(,|$))");
  std::smatch found;
  const bool good = std::regex_match(slurm, list) && std::regex_search(slurm, found, count);
  return good ? std::atoi(found[2].str().c_str()) : 0;
}

/// Of a rank's band, so that a field which only many ranks can hold is predicted on this machine.
std::string predicted(const LongRunOptions& run, int ranks, Progress& progress) {
  PredictionPlan plan;
  plan.backend = run.backend();
  plan.ranks = {ranks};
  plan.weak = true;
  static_cast<RunPlan&>(plan.run) = run;
  plan.run.session = run.session;
  plan.run.problem.ny = std::max<std::int64_t>(3, (run.problem.ny + ranks - 1) / ranks);
  plan.run.iterations = std::min<std::int64_t>(run.iterations, 100);
  const ClusterPrediction found = predict(plan, nullptr, progress);
  if (found.runs.empty()) {
    return "# no prediction: the result on one rank is wrong\n";
  }
  const PredictedRun& most = found.runs.back();
  return fmt::format(
      "# cluster predict: {} a step, efficiency {:.0f} %, an exchange every {}; all {}: {}\n# {}\n",
      format_seconds(most.seconds), 100 * most.efficiency, counted(most.depth, "step"),
      counted(run.iterations, "step"),
      format_seconds(most.seconds * static_cast<double>(run.iterations)), found.source);
}

} // namespace

void check_sbatch(const std::string& slurm) {
  if (ranks_of(slurm) == 0) {
    throw InvalidInput(
        fmt::format("--sbatch {}: give Slurm's options with their values and commas between, and "
                    "ntasks, such as "
                    "nodes=2,ntasks=8,time=01:00:00",
                    slurm));
  }
}

int write_sbatch(const LongRunOptions& run, const Invocation& invocation) {
  static const std::regex option(" --sbatch[ =][^ ]+");
  Progress progress(invocation.err, false);
  std::string text =
      "#!/bin/sh\n#SBATCH --" + std::regex_replace(run.sbatch, std::regex(","), "\n#SBATCH --");
  text += "\n" + predicted(run, ranks_of(run.sbatch), progress) +
          "# Measured on the machine that wrote this file, not on the nodes of the job.\n";
  invocation.out << text << "mpirun " << std::regex_replace(invocation.command, option, "") << "\n";
  return 0;
}

} // namespace diffbench::bench
