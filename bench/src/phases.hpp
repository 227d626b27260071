// The arithmetic of the ledger: phases are exclusive and add up to the wall time, always.
#pragma once

#include "result.hpp"

#include <optional>
#include <span>
#include <string>

namespace diffbench::bench {

/// Sets `unexplained` to what the phases leave of `wall`; below zero when they claim more than
/// there was, which is shown as it is.
void settle(Phases& phases);

/// Puts a session's own account in the place of what the caller's clock saw of its calls; nothing
/// without one. Phases that took no time (a warm run makes no context) are then not part of the
/// run.
void itemize(Phases& phases, const std::optional<PhaseTimes>& account);

/// Adds what giving everything back took, measured apart, to the run.
void append_free(Phases& phases, double seconds);

/// A process makes one context of a device, inside the first cold run that needs one. Charges the
/// other cold runs with it, since each would make it in a process of its own. Returns the name of
/// the row that made it; empty when no two rows share one.
std::string share_context(std::span<Row> rows);

} // namespace diffbench::bench
