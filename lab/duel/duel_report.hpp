// SPDX-License-Identifier: Apache-2.0
// What a duel shows and keeps.
#pragma once

#include "blocks.hpp"
#include "fail_on.hpp"
#include "foreign_load.hpp"
#include "lab_report.hpp"
#include "step_work.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What was asked, in words and figures.
struct DuelCard {
  std::string a, b;                  ///< the sides as they were typed
  std::optional<StepWork> work = {}; ///< of a sample; empty: a whole process
  VerdictRule rule;
  std::uint64_t seed = 0;
  double budget_seconds = 0;
  std::int64_t most_blocks = 0; ///< 0: as many as the budget allows
  FailOn fail_on = {};
  bool beside_load = false;            ///< conclude although other programs run
  std::vector<std::string> notes = {}; ///< what was found before the blocks
};

/// Of one that has blocks, as run_blocks() left it. Withdraws its verdict where `load` shows other
/// programs, and sets the exit code.
[[nodiscard]] LabReport duel_report(const DuelCard& card, const Duel& duel, const LoadWatch& load,
                                    bool interrupted);

} // namespace diffbench::bench
