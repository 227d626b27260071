// `diffbench transfer`: what copies cost, within the host and to and from a GPU.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_transfer(CLI::App& app);

} // namespace diffbench::bench
