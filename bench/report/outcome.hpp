// SPDX-License-Identifier: Apache-2.0
// What a finished measurement means for the exit code.
#pragma once

#include "output.hpp"
#include "result.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace diffbench::bench {

struct Outcome {
  int exit_code = exit_ok;
  std::string complaint = {}; ///< a line for stderr, where not all is well
};

/// How a row ended.
struct Ending {
  enum class Kind {
    nothing, ///< no result, and none that was asked for
    result,  ///< a time, or where there can be none, the proof of a result
    failed,
    missing, ///< asked for, and not available
    wrong,
  };
  Kind kind = Kind::nothing;
  std::string row;
  std::string reason; ///< why it is no result, as far as known
};

/// Of rows that are TimedRows of one kind.
template <typename Rows>
[[nodiscard]] std::vector<Ending> endings_of(const Rows& rows) {
  std::vector<Ending> endings;
  for (const auto& row : rows) {
    const bool has_result = row.ranked() || (row.without_time() && row.verified());
    endings.push_back({.kind = row.wrong()    ? Ending::Kind::wrong
                               : row.missing  ? Ending::Kind::missing
                               : row.failed() ? Ending::Kind::failed
                               : has_result   ? Ending::Kind::result
                                              : Ending::Kind::nothing,
                       .row = row.name,
                       .reason = row.reason});
  }
  return endings;
}

/// The worst that happened, and to which row first: wrong, missing, nothing measured at all,
/// failed.
[[nodiscard]] Outcome outcome_of(const std::vector<Ending>& endings);
[[nodiscard]] inline Outcome outcome_of(const ComparisonResult& result) {
  return outcome_of(endings_of(result.rows));
}

/// A line for each row that is wrong or failed, and why.
[[nodiscard]] std::vector<std::string> troubles(const ComparisonResult& result);

} // namespace diffbench::bench
