// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the ledger: phases are exclusive and add up to the wall time, always.
#pragma once

#include "result.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace diffbench::bench {

/// Sets `unexplained` to what the phases leave of `wall`; below zero when they claim more than
/// there was, which is shown as it is.
void settle(Phases& phases);

/// Puts a session's own account in the place of what the caller's clock saw of its calls; nothing
/// without one, and none of what it leaves out. Phases that took no time (a warm run makes no
/// context) are then not part of the run.
void itemize(Phases& phases, const std::optional<PhaseTimes>& account);

/// Adds what giving everything back took, measured apart, to the run.
void append_free(Phases& phases, double seconds);

/// The run of median wall time as it is, so that its phases add up; of an even number the upper
/// one. `runs` is not empty and changes its order.
template <typename Run, typename Wall>
Run of_median_wall(std::vector<Run>& runs, Wall wall) {
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end(),
                   [&](const Run& a, const Run& b) { return wall(a) < wall(b); });
  return *middle;
}

/// A process starts the driver once, when it first asks for devices (`driver_seconds`), and makes
/// one context, inside the first cold run that needs one. Charges every cold run of a backend on a
/// device, and its setup, with both, since each would need them in a process of its own. Returns
/// whether there was any.
bool charge_context(std::span<Row> rows, double driver_seconds);

} // namespace diffbench::bench
