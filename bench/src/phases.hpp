// The arithmetic of the ledger: phases are exclusive and add up to the wall time, always.
#pragma once

#include "result.hpp"

#include <optional>
#include <span>

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

/// A process starts the driver once, when it first asks for devices (`driver_seconds`), and makes
/// one context, inside the first cold run that needs one. Charges every cold run of a backend on a
/// device with both, since each would need them in a process of its own. Returns whether there was
/// any.
bool charge_context(std::span<Row> rows, double driver_seconds);

} // namespace diffbench::bench
