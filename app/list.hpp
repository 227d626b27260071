// SPDX-License-Identifier: Apache-2.0
// `diffbench list`: every backend and peer, and whether it can run here.
#pragma once

#include "lab_report.hpp"

namespace diffbench::bench {

/// A row each: the backends from the naive to the fast, those left out of this build with the
/// option that brings them, then the peers.
[[nodiscard]] LabReport list_report();

} // namespace diffbench::bench
