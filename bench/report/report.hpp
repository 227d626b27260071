// `diffbench report`: result files as one page of pictures.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_report(CLI::App& app);

} // namespace diffbench::bench
