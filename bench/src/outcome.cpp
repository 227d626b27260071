#include "outcome.hpp"

#include <algorithm>

namespace diffbench::bench {

namespace {

template <typename Condition>
bool any_row(const ComparisonResult& result, Condition condition) {
  return std::any_of(result.rows.begin(), result.rows.end(), condition);
}

} // namespace

bool any_result(const ComparisonResult& result) {
  return any_row(result,
                 [](const Row& row) { return row.ranked() || (row.emulated() && row.verified()); });
}

std::vector<std::string> troubles(const ComparisonResult& result) {
  std::vector<std::string> lines;
  for (const Row& row : result.rows) {
    if (row.verification && !row.verification->bitwise) {
      lines.push_back(row.name + ": its field differs from the reference");
    } else if (row.status == Status::failed) {
      lines.push_back(row.name + ": " + row.reason);
    }
  }
  return lines;
}

Outcome outcome_of(const ComparisonResult& result) {
  if (any_row(result,
              [](const Row& row) { return row.verification && !row.verification->bitwise; })) {
    return {exit_not_verified, "a result differs from the reference, see above"};
  }
  if (any_row(result, [](const Row& row) { return row.missing; })) {
    return {exit_unavailable, "what was asked for is not available, see above"};
  }
  if (!any_result(result)) {
    return {exit_error, "nothing could be measured, see the reasons above"};
  }
  if (any_row(result, [](const Row& row) { return row.status == Status::failed; })) {
    return {exit_error, "a row failed, see above; the others are reported"};
  }
  return {};
}

} // namespace diffbench::bench
