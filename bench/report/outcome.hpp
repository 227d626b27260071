// What a finished comparison means for the exit code.
#pragma once

#include "output.hpp"
#include "result.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

struct Outcome {
  int exit_code = exit_ok;
  std::string complaint = {}; ///< a line for stderr, where not all is well
};

/// Something came out: a time, or where there can be none, the proof of a result.
[[nodiscard]] bool any_result(const ComparisonResult& result);

/// A line for each row that is wrong or failed, and why.
[[nodiscard]] std::vector<std::string> troubles(const ComparisonResult& result);

/// The worst that happened: a wrong result, something asked for that is missing, nothing
/// measured, a row that failed.
[[nodiscard]] Outcome outcome_of(const ComparisonResult& result);

} // namespace diffbench::bench
