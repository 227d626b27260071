// SPDX-License-Identifier: Apache-2.0
// `diffbench [options]`: checks, measures, reports, records.
#pragma once

#include "comparison_options.hpp"
#include "selection.hpp"
#include "verb.hpp"

#include <span>

namespace diffbench::bench {

/// Of the given rows. Results go to stdout and the files of `options`, hints and progress
/// to stderr. Returns the exit code; throws Error, InvalidInput, Unavailable, Interrupted or
/// OutputClosed.
[[nodiscard]] int run_comparison(const ComparisonOptions& options,
                                 std::span<const PlannedRow> planned_rows,
                                 const Invocation& invocation);

} // namespace diffbench::bench
