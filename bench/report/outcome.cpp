// SPDX-License-Identifier: Apache-2.0
#include "outcome.hpp"

namespace diffbench::bench {

std::vector<std::string> troubles(const ComparisonResult& result) {
  std::vector<std::string> lines;
  for (const Row& row : result.rows) {
    if (row.wrong()) {
      lines.push_back(row.name + ": " +
                      (row.reason.empty() ? "its field differs from the reference" : row.reason));
    } else if (row.failed()) {
      lines.push_back(row.name + ": " + row.reason);
    }
  }
  return lines;
}

Outcome outcome_of(const std::vector<Ending>& endings) {
  const auto first = [&](Ending::Kind kind) {
    const auto found = std::ranges::find(endings, kind, &Ending::kind);
    return found == endings.end() ? nullptr : &*found;
  };
  if (const Ending* const wrong = first(Ending::Kind::wrong)) {
    return {exit_not_verified,
            wrong->row + ": " +
                (wrong->reason.empty() ? "its result differs from the reference" : wrong->reason)};
  }
  if (const Ending* const missing = first(Ending::Kind::missing)) {
    return {exit_unavailable, missing->row + ": " + missing->reason};
  }
  const Ending* const failed = first(Ending::Kind::failed);
  if (first(Ending::Kind::result) == nullptr) {
    const Ending* const one = failed != nullptr ? failed : first(Ending::Kind::nothing);
    return {exit_error, "nothing could be measured" + (one == nullptr || one->reason.empty()
                                                           ? ""
                                                           : "; " + one->row + ": " + one->reason)};
  }
  if (failed != nullptr) {
    return {exit_error, failed->row + ": " + failed->reason + "; the other rows are reported"};
  }
  return {};
}

} // namespace diffbench::bench
