// `diffbench mlp train`: trains one network with every engine from the same parameters, on the same
// rows in the same order, and shows times and quality side by side.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_mlp_train(CLI::App& app);

} // namespace diffbench::bench
