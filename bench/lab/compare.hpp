// `diffbench compare OLD.json NEW.json`: did it become faster or slower?
#pragma once

#include "subcommand.hpp"

namespace diffbench::bench {

Action declare_compare(CLI::App& app);

} // namespace diffbench::bench
