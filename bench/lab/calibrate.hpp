// `diffbench calibrate`: measures this machine for `diffbench advise`.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_calibrate(CLI::App& app);

} // namespace diffbench::bench
