// A run of one backend that lasts (--checkpoint, --restart), or whose field no rank can hold
// (--distributed): no rounds and no rows to compare, but the first steps verified, the time, and
// the field's digest.
#pragma once

#include "comparison_options.hpp"
#include "verb.hpp"

namespace diffbench::bench {

/// On all ranks, or on this process alone. Verifies against the oracle on the same ranks, for as
/// many steps as the budget affords. Ctrl-C keeps the state in the checkpoint, if there is one.
/// Returns the exit code; throws as run_comparison() does.
[[nodiscard]] int run_long(const Options& given, const Invocation& invocation);

} // namespace diffbench::bench
