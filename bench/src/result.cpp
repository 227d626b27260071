#include "result.hpp"

#include "statistics.hpp"

#include <algorithm>

namespace diffbench::bench {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::ok: return "ok";
    case Status::skipped: return "skipped";
    case Status::failed: return "failed";
  }
  return "unknown";
}

const Row* ComparisonResult::find(std::string_view name) const {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<double> seconds_per_iteration(const Row& row) {
  if (row.samples.empty()) {
    return std::nullopt;
  }
  return iteration_quartiles(row.samples).median;
}

} // namespace diffbench::bench
