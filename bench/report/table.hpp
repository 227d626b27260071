// SPDX-License-Identifier: Apache-2.0
// What a comparison found, part by part: as text for people, and as data. Parts of which there is
// nothing to say are empty; the others begin with an empty line.
#pragma once

#include "result.hpp"
#include "value.hpp"

#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

[[nodiscard]] std::string format_tables(const ComparisonResult& result);

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

// Of rows on a GPU.

/// The phases of the warm and of the cold run of each row on a device, in ms.
[[nodiscard]] std::string format_ledger(const ComparisonResult& result);
/// Against the baseline and against the best CPU backend.
[[nodiscard]] std::string format_speedups(const ComparisonResult& result);
/// The same of one row for programs.
[[nodiscard]] Value speedups_json(const ComparisonResult& result, const Row& row,
                                  const Row* against);
[[nodiscard]] std::string format_transfers(const ComparisonResult& result);

/// One sentence on what the fastest GPU row is worth; empty without one.
[[nodiscard]] std::string device_verdict(const ComparisonResult& result);

// Telemetry.

/// A table of those figures that could be read, and a line for each source that could not; empty
/// without --telemetry.
[[nodiscard]] std::string format_telemetry(const ComparisonResult& result);

/// null without telemetry.
[[nodiscard]] Value telemetry_json(const std::optional<RowTelemetry>& row);
[[nodiscard]] Value telemetry_json(const std::optional<TelemetrySources>& telemetry);

// How rows are wrong.

/// "differs from the reference after 20 steps by up to 1e-07 (1 ulp) in ..., so it was not timed",
/// of a row that is wrong.
[[nodiscard]] std::string describe_wrong(const Verification& verification, const Problem& problem);

/// Which fields rows were proved on beside the run's: a line for those with the same ones.
[[nodiscard]] std::string format_proofs(const ComparisonResult& result);

[[nodiscard]] Value verification_json(const Verification& verification);

} // namespace diffbench::bench
