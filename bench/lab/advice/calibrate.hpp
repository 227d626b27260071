// Calibration on behalf of another verb.
#pragma once

#include "progress.hpp"

#include <ostream>

namespace diffbench::bench {

/// Does what `diffbench calibrate` without options does, and keeps this machine's profile; `err` is
/// told first what it takes. Throws Interrupted, after what there was by then is kept, and Error
/// where no profile can be made or written.
void calibrate_this_machine(std::ostream& err, Progress& progress);

} // namespace diffbench::bench
