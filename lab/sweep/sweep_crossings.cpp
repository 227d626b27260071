// SPDX-License-Identifier: Apache-2.0
#include "sweep_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace diffbench::bench {

namespace {

/// The fastest by its median step among the backends that `admits`.
template <typename Admits>
const SweepRow* fastest(const SweepRows& point, Admits admits) {
  return fastest(
      point.rows,
      [&](const SweepRow& row) {
        return !row.samples.empty() && !row.is_peer && !row.naive && admits(row);
      },
      &SweepRow::median_step);
}

const SweepRow* champion(const SweepRows& point, const CrossedRows& crossed) {
  return crossed.named()
             ? point.find(crossed.champion)
             : fastest(point, [](const SweepRow& row) { return row.device == DeviceKind::cpu; });
}

const SweepRow* challenger(const SweepRows& point, const CrossedRows& crossed) {
  return crossed.named()
             ? point.find(crossed.challenger)
             : fastest(point, [](const SweepRow& row) { return row.device == DeviceKind::cuda; });
}

double size_along(const std::string& option, const SweepRows& point) {
  return option == "--grid" ? std::sqrt(static_cast<double>(point.nx * point.ny))
                            : static_cast<double>(point.iterations);
}

/// Contests of the given points, in ascending order of size.
std::vector<Contest> contests_of(const std::string& along,
                                 const std::vector<const SweepRows*>& points,
                                 const CrossedRows& crossed, Measure measure) {
  std::vector<Contest> contests;
  for (const SweepRows* point : points) {
    const SweepRow* first = champion(*point, crossed);
    const SweepRow* second = challenger(*point, crossed);
    if (first == nullptr || second == nullptr) {
      continue;
    }
    const std::vector<double> old = seconds_of(*first, measure, point->iterations);
    const std::vector<double> other = seconds_of(*second, measure, point->iterations);
    if (!old.empty() && !other.empty()) {
      contests.push_back({.size = size_along(along, *point), .ratio = ratio_apart(other, old)});
    }
  }
  std::ranges::sort(contests, {}, &Contest::size);
  return contests;
}

} // namespace

std::vector<Crossing> find_crossings(const std::vector<Axis>& axes,
                                     std::span<const SweepRows> points,
                                     const CrossedRows& crossed) {
  std::vector<Crossing> crossings;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::string& along = axes[axis].option;
    if (along != "--grid" && along != "--iters") {
      continue;
    }
    // Points that differ in this axis alone, by the values of all others.
    std::map<std::vector<std::string>, std::vector<const SweepRows*>> curves;
    std::vector<std::vector<std::string>> order; // as the points came
    for (const SweepRows& point : points) {
      std::vector<std::string> others = point.values;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
      auto& curve = curves[others];
      if (curve.empty()) {
        order.push_back(others);
      }
      curve.push_back(&point);
    }
    for (const auto& others : order) {
      for (const Measure measure : {Measure::step, Measure::warm, Measure::cold}) {
        const auto contests = contests_of(along, curves[others], crossed, measure);
        if (contests.size() < 2 || (measure == Measure::step && along == "--iters")) {
          continue;
        }
        Crossing crossing{.along = along,
                          .fixed = {},
                          .measure = measure,
                          .crossover = *find_crossover(contests)};
        for (std::size_t i = 0, other = 0; i < axes.size(); ++i) {
          if (i != axis) {
            crossing.fixed.emplace_back(axes[i].option, others[other++]);
          }
        }
        crossings.push_back(std::move(crossing));
      }
    }
  }
  return crossings;
}

} // namespace diffbench::bench
