// `diffbench [options]`: checks, measures, reports, records.
#pragma once

#include "comparison_options.hpp"
#include "selection.hpp"

#include <ostream>
#include <span>

namespace diffbench::bench {

/// Results go to `out` and the files of `options`, hints and progress to `err`. Returns the exit
/// code; throws Error, InvalidInput, Unavailable, Interrupted or OutputClosed.
[[nodiscard]] int run_comparison(const Options& options, std::ostream& out, std::ostream& err);

/// The same with the given candidates instead of the registry's.
[[nodiscard]] int run_comparison(const Options& options, std::span<const Candidate> candidates,
                                 std::ostream& out, std::ostream& err);

} // namespace diffbench::bench
