#include "outcome.hpp"

#include <algorithm>

namespace diffbench::bench {

bool any_result(const ComparisonResult& result) {
  return std::ranges::any_of(result.rows, [](const Row& row) {
    return row.ranked() || (row.emulated() && row.verified());
  });
}

std::vector<std::string> troubles(const ComparisonResult& result) {
  std::vector<std::string> lines;
  for (const Row& row : result.rows) {
    if (row.wrong()) {
      lines.push_back(row.name + ": its field differs from the reference");
    } else if (row.failed()) {
      lines.push_back(row.name + ": " + row.reason);
    }
  }
  return lines;
}

Outcome outcome_of(const ComparisonResult& result) {
  const auto any = [&](auto is) { return std::ranges::any_of(result.rows, is); };
  if (any(&Row::wrong)) {
    return {exit_not_verified, "a result differs from the reference, see above"};
  }
  if (any(&Row::missing)) {
    return {exit_unavailable, "what was asked for is not available, see above"};
  }
  if (!any_result(result)) {
    return {exit_error, "nothing could be measured, see the reasons above"};
  }
  if (any(&Row::failed)) {
    return {exit_error, "a row failed, see above; the others are reported"};
  }
  return {};
}

} // namespace diffbench::bench
