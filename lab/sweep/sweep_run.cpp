// SPDX-License-Identifier: Apache-2.0
#include "sweep_run.hpp"

#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace diffbench::bench {

namespace {

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

} // namespace

std::vector<SweepPoint> run_sweep(const SweepPlan& plan, const MeasureOne& measure,
                                  Progress& progress) {
  std::vector<SweepPoint> points;
  ContextCharge contexts;
  for (const Combination& combination : plan.combinations) {
    progress.within(progress_text(points, plan.combinations.size()));
    const Stopwatch watch;
    ComparisonResult result;
    try {
      result = measure(combination.run, progress);
    } catch (const Interrupted&) {
      break;
    }
    if (result.interrupted) {
      break;
    }
    contexts.apply(result);
    points.push_back(
        {.values = combination.values, .seconds = watch.seconds(), .result = std::move(result)});
    if (interrupted()) {
      break;
    }
  }
  return points;
}

} // namespace diffbench::bench
