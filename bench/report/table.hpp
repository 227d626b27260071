// SPDX-License-Identifier: Apache-2.0
// The result as text for a person: the figures, what the runs cost end to end, the machine, and
// one sentence on what it means.
#pragma once

#include "result.hpp"
#include "value.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

/// `bars` (bars.hpp) come after the tables.
[[nodiscard]] std::string format_report(const ComparisonResult& result,
                                        const std::string& bars = {});

// Its parts, for the reports of experiments that are comparisons, too.

/// Rows in the order of the tables: those without a time, then from the slowest to the fastest;
/// skipped ones are in none.
[[nodiscard]] std::vector<const Row*> fastest_last(const ComparisonResult& result);
/// A line for each of these.
[[nodiscard]] std::string format_figures(const ComparisonResult& result);
/// What each row costs as a whole, after an empty line; empty where no row got so far.
[[nodiscard]] std::string format_costs(const ComparisonResult& result);
/// What is solved, and an empty line.
[[nodiscard]] std::string format_title(const ComparisonResult& result);
/// Of a row that is ranked; null otherwise.
[[nodiscard]] Value median_value(const Row& row); ///< seconds per iteration
[[nodiscard]] Value spread_value(const Row& row); ///< as a fraction; null of one sample, too
/// "yes" only for all steps of the run; otherwise it says after how many. "failed" of what did.
[[nodiscard]] std::string format_verified(const ComparisonResult& result, const Row& row);
/// A line for each row that has no time and why; rows that follow one another and have the same
/// trouble share one. After an empty line, where there are any.
[[nodiscard]] std::string format_troubles(const ComparisonResult& result);

} // namespace diffbench::bench
