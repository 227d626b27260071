// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include "result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace diffbench::bench {

namespace {

/// Sizes that are tried lie so close: 2^(1/16) is 4 %, less than the model's error.
const double size_step = std::exp2(1.0 / 16);
constexpr double smallest_tried = 16;
constexpr double largest_tried = 65536;
constexpr double most_iterations_tried = 1e7;

double fastest_seconds(std::span<const WayCost> ways, const RunShape& run, RunKind kind,
                       DeviceKind device) {
  RunShape shape = run;
  if (device == DeviceKind::cpu) {
    shape.copies_per_step = 0; // its field is in the host's memory
  }
  double best = std::numeric_limits<double>::infinity();
  for (const WayCost& way : ways) {
    if (way.device == device) {
      best = std::min(best, seconds_of(predict(way, shape), kind));
    }
  }
  return best;
}

bool gpu_wins(std::span<const WayCost> ways, const RunShape& run, RunKind kind) {
  return fastest_seconds(ways, run, kind, DeviceKind::cuda) <
         fastest_seconds(ways, run, kind, DeviceKind::cpu);
}

/// The smallest size from which `wins` holds for all larger ones that are tried.
template <typename Wins>
std::optional<double> first_size(double low, double high, Wins wins) {
  std::optional<double> first;
  for (double size = high; size >= low && wins(size); size /= size_step) {
    first = size;
  }
  return first;
}

PaysFrom pays_from(std::span<const WayCost> ways, const RunShape& run, RunKind kind) {
  PaysFrom pays;
  pays.side = first_size(smallest_tried, largest_tried, [&](double side) {
    RunShape other = run;
    other.cells = side * side;
    return gpu_wins(ways, other, kind);
  });
  const auto iterations = first_size(1, most_iterations_tried, [&](double count) {
    RunShape other = run;
    other.iterations = std::llround(count);
    return gpu_wins(ways, other, kind);
  });
  if (iterations) {
    pays.iterations = std::llround(*iterations);
  }
  const auto stay = first_size(1, static_cast<double>(run.iterations), [&](double steps) {
    RunShape other = run;
    other.snapshot_every = 0;
    other.copies_per_step = 2 / std::round(steps);
    return gpu_wins(ways, other, kind);
  });
  if (stay) {
    pays.stay = std::llround(*stay);
  }
  return pays;
}

} // namespace

double seconds_of(const Prediction& prediction, RunKind kind) {
  return kind == RunKind::warm ? prediction.warm_seconds : prediction.cold_seconds;
}

const AdvisedWay* fastest(const Advice& advice, RunKind kind, DeviceKind device) {
  return fastest(
      advice.ways, [&](const AdvisedWay& way) { return way.fits && way.device == device; },
      [&](const AdvisedWay& way) { return seconds_of(way.prediction, kind); });
}

Advice advise(std::span<const WayCost> ways, const RunShape& run) {
  Advice advice{.run = run, .ways = {}, .warm = {}, .cold = {}};
  for (const WayCost& way : ways) {
    advice.ways.push_back({.backend = way.backend,
                           .device = way.device,
                           .threads = way.grids.back().threads,
                           .prediction = predict(way, run),
                           .need = {}});
    (way.device == DeviceKind::cuda ? advice.any_gpu : advice.any_cpu) = true;
  }
  std::ranges::stable_sort(advice.ways, {},
                           [](const AdvisedWay& way) { return way.prediction.warm_seconds; });
  if (advice.compares_devices()) {
    advice.warm = pays_from(ways, run, RunKind::warm);
    advice.cold = pays_from(ways, run, RunKind::cold);
  }
  return advice;
}

} // namespace diffbench::bench
