#include "crossover.hpp"

#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>

namespace diffbench::bench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int replicates = 1000;

/// Below 0 where the challenger is faster.
double log_ratio(const std::vector<double>& champion, const std::vector<double>& challenger) {
  return std::log(median_of(challenger) / median_of(champion));
}

/// The size above which all of `ratios` are below 0.
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
  const double x0 = std::log(contests[first - 1].size);
  const double x1 = std::log(contests[first].size);
  const double y0 = ratios[first - 1];
  const double y1 = ratios[first];
  return std::exp(x0 + (x1 - x0) * y0 / (y0 - y1));
}

std::vector<double> resampled(const std::vector<double>& values, std::mt19937_64& random) {
  std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
  std::vector<double> sample(values.size());
  std::ranges::generate(sample, [&] { return values[pick(random)]; });
  return sample;
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

std::optional<Crossover> find_crossover(std::span<const Contest> contests) {
  if (contests.empty()) {
    return std::nullopt;
  }
  std::vector<double> ratios;
  int changes = 0;
  for (const Contest& contest : contests) {
    ratios.push_back(log_ratio(contest.champion, contest.challenger));
    changes += ratios.size() > 1 && (ratios.back() < 0) != (ratios[ratios.size() - 2] < 0) ? 1 : 0;
  }
  Crossover crossover{.size = crossing(contests, ratios), .single = changes <= 1};
  std::mt19937_64 random(1); // the same interval each time the same samples are looked at
  std::vector<double> sizes;
  for (int i = 0; i < replicates; ++i) {
    for (std::size_t k = 0; k < contests.size(); ++k) {
      ratios[k] = log_ratio(resampled(contests[k].champion, random),
                            resampled(contests[k].challenger, random));
    }
    sizes.push_back(crossing(contests, ratios));
  }
  // Order statistics as they are: between a size and infinity nothing can be interpolated.
  std::ranges::sort(sizes);
  crossover.low = sizes[static_cast<std::size_t>(replicates * 0.025)];
  crossover.high = sizes[static_cast<std::size_t>(replicates * 0.975)];
  return crossover;
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
