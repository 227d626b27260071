// SPDX-License-Identifier: Apache-2.0
// `diffbench compare --history FILE`: the results of duels over time, and when a row changed.
#pragma once

#include "lab_report.hpp"

#include <string>

namespace diffbench::bench {

/// Of what `diffbench duel --history` wrote. Throws InvalidInput.
[[nodiscard]] LabReport history_report(const std::string& file);

} // namespace diffbench::bench
