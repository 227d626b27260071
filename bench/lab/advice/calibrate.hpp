// Calibration on behalf of another verb.
#pragma once

#include "progress.hpp"

namespace diffbench::bench {

/// Does what `diffbench calibrate` without options does, and keeps this machine's profile. Throws
/// Interrupted, which leaves no profile, and Error where none can be made or written.
void calibrate_this_machine(Progress& progress);

} // namespace diffbench::bench
