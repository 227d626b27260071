// Pictures and files of the field: a run of its own after the timing, so that writing disturbs no
// measurement.
#pragma once

#include "options.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <span>

namespace diffbench::bench {

/// Runs the problem once more with the fastest verified backend of `result` and writes what
/// options.record asks for. Throws Error when nothing was verified, when a file cannot be written,
/// or when the final field is not the reference's; Interrupted.
void record(const Options& options, const ComparisonResult& result,
            std::span<const Candidate> candidates, Progress& progress);

} // namespace diffbench::bench
