// SPDX-License-Identifier: Apache-2.0
#include "point_rows.hpp"

#include "diffbench/machine.hpp"
#include "experiment.hpp"
#include "foreign_load.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

/// Through all points, every other time backwards.
constexpr std::size_t passes = 2;

/// Adds the samples of a pass to those before it; a pass that went wrong makes the row wrong.
void merge(Row& row, Row&& pass) {
  pass.samples.insert(pass.samples.begin(), row.samples.begin(), row.samples.end());
  if (row.name.empty() || !pass.ranked()) {
    row = std::move(pass);
  } else {
    row.samples = std::move(pass.samples);
  }
}

} // namespace

ComparisonResult measure_points(ComparisonPlan run, std::vector<PointRow>& points,
                                Progress& progress, const cluster::Ranks* launched) {
  std::vector<PlannedRow> all;
  std::ranges::transform(points, std::back_inserter(all), &PointRow::planned);
  run.problem = points.front().problem;
  if (std::ranges::all_of(points, [&](const PointRow& point) {
        return point.problem.cells() == run.problem.cells();
      })) {
    check_memory(run.problem, all, 0, available_memory());
    return measure(run, all, progress, nobody(), load_watch(launched));
  }
  for (const auto& [problem, planned] : points) {
    check_memory(problem, {&planned, 1}, 0, available_memory());
  }
  run.budget_seconds /= static_cast<double>(passes * points.size());
  std::optional<ComparisonResult> whole;
  std::vector<Row> rows(points.size());
  std::set<std::string> notes;
  bool disturbed = false;
  for (std::size_t i = 0; i < passes * points.size(); ++i) {
    const std::size_t at = i < points.size() ? i : passes * points.size() - 1 - i;
    Row& row = rows[at];
    run.problem = points[at].problem;
    run.sample_steps = row.samples.empty() ? 0 : row.samples.front().iterations; // passes are alike
    std::optional<ComparisonResult> result;
    try {
      result = measure(run, {&all[at], 1}, progress, nobody(), load_watch(launched));
    } catch (const Interrupted&) {
    }
    if (interrupted()) {
      break;
    }
    merge(row, std::move(result->rows.front()));
    for (const std::string& note : result->notes) {
      notes.insert(fmt::format("{}x{}: {}", run.problem.nx, run.problem.ny, note));
    }
    disturbed = disturbed || result->disturbed;
    if (!whole) {
      whole = std::move(result);
    }
  }
  if (!whole) {
    throw Interrupted();
  }
  // Of the first pass, the last ones may be missing.
  const auto measured = std::ssize(rows) - std::ranges::count(rows, std::string(), &Row::name);
  points.erase(points.begin() + measured, points.end());
  rows.resize(points.size());
  whole->rows = std::move(rows);
  whole->notes.assign(notes.begin(), notes.end());
  whole->interrupted = interrupted();
  whole->disturbed = disturbed;
  return *std::move(whole);
}

void add_frame(LabReport& report, const ComparisonResult& frame) {
  report.notes.insert(report.notes.end(), frame.notes.begin(), frame.notes.end());
  report.interrupted = frame.interrupted;
  report.disturbed = frame.disturbed;
  report.outcome = outcome_of(frame);
}

} // namespace diffbench::bench
