// What the numbers say, in one sentence computed from them.
#pragma once

#include "result.hpp"

#include <string>

namespace diffbench::bench {

/// Names the fastest verified row, how many times as fast as the baseline and as the best
/// one-thread backend it is, what its share of the copy bandwidth means, and whether the spreads
/// leave the order of the first two open. Softened where other programs ran.
[[nodiscard]] std::string verdict(const ComparisonResult& result);

} // namespace diffbench::bench
