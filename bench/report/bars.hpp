// SPDX-License-Identifier: Apache-2.0
// The result drawn with characters, for who looks at a terminal: the ladder (how fast each row is)
// and the ledger (where the time of its warm run went). Every character is ASCII, and none a
// colour.
#pragma once

#include "result.hpp"

#include <string>

namespace diffbench::bench {

/// Both drawings, at most `columns` wide but not narrower than is readable; each begins with an
/// empty line and is left out when no row has what it shows.
[[nodiscard]] std::string format_bars(const ComparisonResult& result, int columns);

} // namespace diffbench::bench
