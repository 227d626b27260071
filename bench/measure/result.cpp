// SPDX-License-Identifier: Apache-2.0
#include "result.hpp"

#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::ok: return "ok";
    case Status::skipped: return "skipped";
    case Status::failed: return "failed";
  }
  return "unknown";
}

std::optional<std::int64_t> uses_to_pay(double setup_seconds, double saved_seconds) {
  // Beyond this many, "never" is the better word; also keeps the conversion defined.
  constexpr double never = 1e12;
  if (setup_seconds <= 0 && saved_seconds >= 0) {
    return 0;
  }
  const double uses = std::ceil(setup_seconds / saved_seconds);
  if (saved_seconds > 0 && uses < never) { // accept form: a NaN never pays
    return static_cast<std::int64_t>(uses);
  }
  return std::nullopt;
}

std::optional<std::int64_t> TransferStudy::trips_to_pay() const {
  return is_open ? std::nullopt : uses_to_pay(setup_seconds, saved_per_trip());
}

const Row* ComparisonResult::find(std::string_view name) const {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

double TimedRow::step_seconds() const { return iteration_quartiles(samples).median; }

std::optional<double> seconds_per_iteration(const TimedRow& row) {
  return row.samples.empty() ? std::nullopt : std::optional(row.step_seconds());
}

} // namespace diffbench::bench
