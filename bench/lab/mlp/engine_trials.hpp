// An engine in a race with itself, for the self-test.
#pragma once

#include "selftest_trials.hpp"

namespace diffbench::bench {

/// A MakeEngineTrials.
[[nodiscard]] TrialSubject engine_trials(const EngineTrials& options);

} // namespace diffbench::bench
