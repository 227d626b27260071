// `diffbench list`: every backend and peer, and whether it can run here.
#pragma once

#include <ostream>

namespace diffbench::bench {

/// Writes the backends from the naive to the fast, those left out of this build with the option
/// that brings them, then the peers. Returns the exit code, 0.
[[nodiscard]] int run_list(std::ostream& out);

} // namespace diffbench::bench
