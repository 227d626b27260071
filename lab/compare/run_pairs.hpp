// SPDX-License-Identifier: Apache-2.0
// Of many runs, which one came before which, and what `compare` says of the two.
#pragma once

#include "lab_report.hpp"
#include "recorded_run.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

struct NamedRun {
  std::string name;
  RecordedRun run;
};

struct RunPair {
  std::size_t old_run, new_run; ///< places among the runs
  bool same_machine;
  LabReport report;
};

/// The runs are of one kind. Each one is paired with the newest earlier run of its machine
/// with which any row can be compared and which had equal settings; then the newest run of a
/// machine with the newest earlier one that is another machine's newest. Runs without a date count
/// as the oldest, those of one date in their order here.
[[nodiscard]] std::vector<RunPair> pairs_in_time(std::span<const NamedRun> runs);

} // namespace diffbench::bench
