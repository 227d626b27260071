// `diffbench mlp latency`: how long a network takes to answer, on every engine, and what classic
// mistakes would have reported.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_mlp_latency(CLI::App& app);

} // namespace diffbench::bench
