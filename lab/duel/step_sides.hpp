// SPDX-License-Identifier: Apache-2.0
// Sides that are timed in steps of the solver, not in starts of programs: two users' files by the
// contract of `diffbench try`. Each block has two new processes, one of each side.
#pragma once

#include "blocks.hpp"
#include "diffbench/problem.hpp"
#include "progress.hpp"
#include "step_work.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace diffbench::bench {

/// What both sides compute in each sample, from random cells.
struct StepPlan {
  Problem problem = {.nx = 640, .ny = 640};
  std::int64_t steps = 100;
  std::optional<Dtype> dtype = {}; ///< empty: float32 where both have it
  double limit_seconds = 0;        ///< that one sample may take
  std::uint64_t seed = 1;          ///< of the cells
  int pairs = pairs_of_samples;    ///< of samples, in a block
};

using RunBlock = std::function<Block(Side first)>;
/// Ready to be run.
struct StepDuel {
  RunBlock run;
  StepWork work;
};

/// Whether `word` is a file for submission_blocks(): its name ends as one that `diffbench try`
/// takes, and it is no Python script that can be run as a command.
[[nodiscard]] bool is_submission(const std::string& word);

/// Compiles and judges both files, which blocks. Each sample's result is compared with the oracle.
/// Throws InvalidInput (no such file, the compiler's words, no form or dtype that both have),
/// Unavailable, NotVerified (wrong), Interrupted; a block throws Error where one fails.
[[nodiscard]] StepDuel submission_duel(const std::string& a, const std::string& b,
                                       const StepPlan& plan, Progress& progress);

} // namespace diffbench::bench
