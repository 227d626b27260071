// `diffbench selftest`: does the program find what is there, and nothing else?
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

Action declare_selftest(CLI::App& app);

} // namespace diffbench::bench
