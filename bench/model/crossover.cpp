// SPDX-License-Identifier: Apache-2.0
#include "crossover.hpp"

#include "units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// The size above which all of `ratios`, in logarithms, are below 0.
double crossing(std::span<const Contest> contests, const std::vector<double>& ratios) {
  std::size_t first = ratios.size(); // from here on the challenger wins
  while (first > 0 && ratios[first - 1] < 0) {
    --first;
  }
  if (first == ratios.size()) {
    return infinity;
  }
  if (first == 0) {
    return 0;
  }
  const Contest& before = contests[first - 1];
  const Contest& after = contests[first];
  const double y0 = ratios[first - 1];
  const double y1 = ratios[first];
  if (!std::isfinite(y0) || !std::isfinite(y1)) { // nothing is known of one of them
    return std::isfinite(y0) ? before.size : after.size;
  }
  const double x0 = std::log(before.size);
  const double x1 = std::log(after.size);
  return std::exp(x0 + (x1 - x0) * y0 / (y0 - y1));
}

std::string size_text(double size) {
  if (size == 0) {
    return "everywhere";
  }
  return std::isfinite(size) ? format_figure(size) : "nowhere";
}

/// Of a crossover whose ends differ.
std::string interval_text(const Crossover& crossover) {
  const bool open_below = crossover.low == 0;
  const bool open_above = !std::isfinite(crossover.high);
  if (open_below && open_above) {
    return " (not settled)";
  }
  const bool between = crossover.size > 0 && std::isfinite(crossover.size);
  if (!between) { // the other end is all that is left of the interval
    return fmt::format(" (or from {})", format_figure(open_below ? crossover.high : crossover.low));
  }
  return open_below   ? fmt::format(" (at most {})", format_figure(crossover.high))
         : open_above ? fmt::format(" (at least {})", format_figure(crossover.low))
                      : fmt::format(" ({} to {})", format_figure(crossover.low),
                                    format_figure(crossover.high));
}

} // namespace

std::optional<Crossover> find_crossover(std::span<const Contest> contests, double least_effect) {
  if (contests.empty()) {
    return std::nullopt;
  }
  const double margin = std::log1p(least_effect);
  std::vector<double> ratios, least, most;
  int changes = 0;
  for (const auto& [size, ratio] : contests) {
    ratios.push_back(std::log(ratio.value));
    least.push_back(ratio.interval ? std::log(ratio.interval->low) - margin : -infinity);
    most.push_back(ratio.interval ? std::log(ratio.interval->high) + margin : infinity);
    changes += ratios.size() > 1 && (ratios.back() < 0) != (ratios[ratios.size() - 2] < 0) ? 1 : 0;
  }
  return Crossover{.size = crossing(contests, ratios),
                   .low = crossing(contests, least),
                   .high = crossing(contests, most),
                   .single = changes <= 1};
}

std::string to_text(const Crossover& crossover) {
  return size_text(crossover.size) +
         (crossover.low == crossover.high ? "" : interval_text(crossover));
}

std::string doubt_text(const Crossover& crossover, std::string_view unit) {
  if (crossover.low == crossover.high || (crossover.size > 0 && std::isfinite(crossover.size))) {
    return "";
  }
  const double end = crossover.low == 0 ? crossover.high : crossover.low;
  return !std::isfinite(end)
             ? std::string("; the scatter of the samples leaves that open")
             : fmt::format("; by the scatter of the samples perhaps {}from {}{}{} on",
                           crossover.size == 0 ? "only " : "", format_figure(end),
                           unit.empty() ? "" : " ", unit);
}

} // namespace diffbench::bench
