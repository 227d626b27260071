// The result as text for a person: the figures, what the runs cost end to end, the machine, and
// one sentence on what it means.
#pragma once

#include "result.hpp"

#include <string>

namespace diffbench::bench {

[[nodiscard]] std::string format_report(const ComparisonResult& result);

} // namespace diffbench::bench
