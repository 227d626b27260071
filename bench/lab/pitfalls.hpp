// `diffbench pitfalls`: each classic mistake of measuring beside the right measurement of the same
// work, with the factor by which it misleads.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_pitfalls(CLI::App& app);

} // namespace diffbench::bench
