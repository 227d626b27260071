// SPDX-License-Identifier: Apache-2.0
// What the numbers say, in one sentence computed from them.
#pragma once

#include "conclusion.hpp"
#include "result.hpp"

#include <string>
#include <string_view>

namespace diffbench::bench {

/// Names the fastest verified row, how many times as fast as the baseline and as the best
/// one-thread backend it is, what its share of the copy bandwidth means, and whether the spreads
/// leave the order of the first two open; then what the fastest GPU row is worth. Withdrawn where
/// other programs ran.
[[nodiscard]] std::string verdict(const ComparisonResult& result);

/// To follow the name of the fastest row: "; simd took 0.97 to 1.1 times as long, so the order of
/// the two is uncertain", or that there are too few samples.
[[nodiscard]] std::string order_doubt(const Ratio& second_over_first, std::string_view second);
/// Nothing of a leader that is sure.
template <typename Row>
[[nodiscard]] std::string order_doubt(const Leader<Row>& found) {
  return found.rival == nullptr ? "" : order_doubt(found.ratio, found.rival->name);
}

} // namespace diffbench::bench
