// SPDX-License-Identifier: Apache-2.0
// What a CUDA file asks a card for, counted on the emulated one, and what an assumed card would
// take for it.
#pragma once

#include "bill.hpp"
#include "lab_report.hpp"
#include "submission.hpp"
#include "tried_process.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace diffbench::bench {

struct AskedOfCard {
  AssumedCard card;
  Problem problem;    ///< whose run is foretold
  std::string kernel; ///< of a program: each launch of it counts as a step; empty: of steps
  std::int64_t steps = 0;
  Bill run, step;                  ///< and what one step more adds
  Bill resident;                   ///< had it copied nothing in a step: the field stays on the card
  double allocations_per_step = 0; ///< no card has a figure for these
  double unevenness = 0;           ///< of what is counted, where that was tried
  std::string failure;             ///< why there is no bill; empty: there is one
};

/// Runs an emulated submission on small grids, some seconds long, and foretells the run of
/// `problem` and `steps`. A submission that fails gives a `failure`. Throws Interrupted, and Error
/// where no process can be started.
[[nodiscard]] AskedOfCard ask_for_card(const Submission& submission, const Problem& problem,
                                       std::int64_t steps, const AssumedCard& card,
                                       const TryLimits& limits,
                                       const std::filesystem::path& work_dir,
                                       const std::function<void(double)>& on_progress);

/// Of a program, from what it has counted ("counts" and "steps" of emulation/user_reports.h).
/// `by_itself`: it has ended, and not its time.
[[nodiscard]] AskedOfCard ask_for_card(const Value& counts, const Value& steps, bool by_itself,
                                       const AssumedCard& card);

/// Adds the bill, what rules it and what to change first; marked as assumed in every line.
void append_asked(LabReport& report, const AskedOfCard& asked);

} // namespace diffbench::bench
