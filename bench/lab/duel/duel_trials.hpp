// SPDX-License-Identifier: Apache-2.0
// Trials of duels for the self-test, whatever the duels are of.
#pragma once

#include "diffbench/line_cache.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "ratio.hpp"
#include "selftest_trials.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What came of one duel. One that is not well is not counted, and ends the trials.
struct DuelOutcome {
  Ratio ratio = {};
  std::int64_t blocks = 0;
  Outcome outcome = {};
  std::vector<std::string> troubles = {}; ///< a line for each row that is wrong or failed
};
/// Throws what a duel throws, and Interrupted.
using RunDuel = std::function<DuelOutcome(double seconds, std::uint64_t seed)>;

/// Of one duel of equal sides, and one for each of the slowdowns, in each trial. What is found
/// where nothing else runs is kept in `kept`. Throws Interrupted before there was anything to keep.
[[nodiscard]] LabReport report_duel_trials(const DuelTrials& options,
                                           std::span<const RunDuel> duels, Progress& progress,
                                           const LineCache& kept);

} // namespace diffbench::bench
