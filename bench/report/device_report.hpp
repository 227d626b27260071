// SPDX-License-Identifier: Apache-2.0
// What a comparison has to say of its GPU rows beside their figures: where the time went (the
// ledger), the speed-ups by each measure, and whether page-locked memory pays.
#pragma once

#include "result.hpp"
#include "value.hpp"

#include <string>

namespace diffbench::bench {

// Each is empty when there is nothing to say, and begins with an empty line otherwise.

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

} // namespace diffbench::bench
