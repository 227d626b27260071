// The result as text for a person: the figures, what the runs cost end to end, the machine, and
// one sentence on what it means.
#pragma once

#include "result.hpp"

#include <string>

namespace diffbench::bench {

/// `bars` (bars.hpp) come after the tables.
[[nodiscard]] std::string format_report(const ComparisonResult& result,
                                        const std::string& bars = {});

// Its parts, for the reports of experiments that are comparisons, too.

/// What is solved, and an empty line.
[[nodiscard]] std::string format_title(const ComparisonResult& result);
/// "yes" only for all steps of the run; otherwise it says after how many.
[[nodiscard]] std::string format_verified(const ComparisonResult& result, const Row& row);
/// A line for each row that has no time and why; rows that follow one another and have the same
/// trouble share one. After an empty line, where there are any.
[[nodiscard]] std::string format_troubles(const ComparisonResult& result);

} // namespace diffbench::bench
