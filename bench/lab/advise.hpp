// `diffbench advise`: predicts every way to make a run, and says whether a GPU pays.
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_advise(CLI::App& app);

} // namespace diffbench::bench
