// SPDX-License-Identifier: Apache-2.0
#include "sweep_run.hpp"

#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "phases.hpp"
#include "report_json.hpp"
#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace diffbench::bench {

namespace {

bool has(const std::vector<SweepPoint>& points, const std::vector<std::string>& values) {
  return std::ranges::any_of(points,
                             [&](const SweepPoint& point) { return point.values == values; });
}

/// "7 of 100, about 3 min left": by what the combinations took until now.
std::string progress_text(const std::vector<SweepPoint>& points, std::size_t all) {
  std::string text = fmt::format("{} of {}", points.size() + 1, all);
  if (!points.empty()) {
    double seconds = 0;
    for (const SweepPoint& point : points) {
      seconds += point.seconds;
    }
    const double left =
        seconds / static_cast<double>(points.size()) * static_cast<double>(all - points.size());
    text += left < 90 ? fmt::format(", about {:.0f} s left", left)
                      : fmt::format(", about {:.0f} min left", left / 60);
  }
  return text + ": ";
}

/// A process makes a device's context once. The first combination shows what that takes; the cold
/// runs of all others are charged with it, too.
class ContextCharge {
 public:
  void apply(ComparisonResult& result) {
    double charged = 0;
    for (const Row& row : result.rows) {
      charged = std::max(charged, row.cold ? row.cold->context.value_or(0) : 0);
    }
    largest_ = std::max(largest_, charged);
    (void)charge_context(result.rows, largest_ - charged);
  }

 private:
  double largest_ = 0;
};

nlohmann::ordered_json own_part(const ComparisonResult& result) {
  Value own = to_json(result);
  own["schema"] = result_schema;
  own["interrupted"] = result.interrupted;
  own["disturbed"] = result.disturbed;
  own["sentence"] = verdict(result);
  own["notes"] = result.notes;
  return json_of(own);
}

} // namespace

void run_sweep(const SweepPlan& plan, std::vector<SweepPoint>& points, const MeasureOne& measure,
               const KeepPoint& keep, Progress& progress) {
  ContextCharge contexts;
  for (const Combination& combination : plan.combinations) {
    if (has(points, combination.values)) {
      continue;
    }
    progress.within(progress_text(points, plan.combinations.size()));
    const Stopwatch watch;
    ComparisonResult result;
    try {
      result = measure(combination.run, progress);
    } catch (const Interrupted&) {
      return;
    }
    if (result.interrupted) {
      return;
    }
    contexts.apply(result);
    const double seconds = watch.seconds();
    points.push_back(
        {.values = combination.values, .seconds = seconds, .result = own_part(result)});
    keep(points.back());
    if (interrupted()) {
      return;
    }
  }
}

} // namespace diffbench::bench
