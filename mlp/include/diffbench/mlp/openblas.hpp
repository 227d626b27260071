// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, of which the program needs nothing until an engine wants its products.
#pragma once

#include "diffbench/execution.hpp"

namespace diffbench::mlp {

/// Loads the library. Throws Unavailable, with the reason, where it is not there or has no room:
/// at its start it takes address space and threads for each CPU, and where it gets none (ulimit -v,
/// a limit of processes) it spins for ever or ends the program.
void load_openblas();

/// Whether load_openblas() would throw. Loads it.
[[nodiscard]] Probe probe_openblas(int device) noexcept;

} // namespace diffbench::mlp
