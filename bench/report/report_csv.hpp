// SPDX-License-Identifier: Apache-2.0
// The result as lines of a table, for csv_of(): one a row.
#pragma once

#include "result.hpp"
#include "value.hpp"

namespace diffbench::bench {

/// What is not known is null. Seconds and bytes, no larger units.
[[nodiscard]] Value csv_lines(const ComparisonResult& result);

} // namespace diffbench::bench
