// SPDX-License-Identifier: Apache-2.0
// `diffbench run --sbatch`: the run as a file for Slurm, to look at and to hand in.
#pragma once

#include "long_run.hpp"

#include <string>

namespace diffbench::bench {

/// Throws InvalidInput unless `slurm` is a list of Slurm's long options, ntasks among them, such as
/// "nodes=2,ntasks=8".
void check_sbatch(const std::string& slurm);

/// Writes the file to stdout, with what `cluster predict` says of the run, which is measured on
/// this machine.
[[nodiscard]] int write_sbatch(const LongRunOptions& run, const Invocation& invocation);

} // namespace diffbench::bench
