// SPDX-License-Identifier: Apache-2.0
// The result as CSV (RFC 4180): one header line, one line a row, full precision, nothing else.
#pragma once

#include "result.hpp"

#include <string>

namespace diffbench::bench {

/// What is not known is an empty cell. Seconds and bytes, no larger units.
[[nodiscard]] std::string format_csv(const ComparisonResult& result);

} // namespace diffbench::bench
