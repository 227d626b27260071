// `diffbench sweep`: the comparison for all combinations of lists and ranges of its options.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_sweep(CLI::App& app);

} // namespace diffbench::bench
