// SPDX-License-Identifier: Apache-2.0
#include "change_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

namespace diffbench::bench {

namespace {

constexpr int orders = 1999;

/// Equal figures share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> figures) {
  std::vector<std::size_t> order(figures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return figures[i]; });
  std::vector<double> ranks(figures.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && figures[order[end]] == figures[order[begin]]) {
      ++end;
    }
    for (std::size_t i = begin; i < end; ++i) {
      ranks[order[i]] = (static_cast<double>(begin + end) + 1) / 2;
    }
  }
  return ranks;
}

struct Split {
  std::size_t at = 0;
  double distance = 0;
};

Split best_split(std::span<const double> ranks) {
  const auto n = static_cast<double>(ranks.size());
  Split best;
  double sum = 0;
  for (std::size_t at = 1; at + least_stretch <= ranks.size(); ++at) {
    sum += ranks[at - 1];
    if (at < least_stretch) {
      continue;
    }
    const auto before = static_cast<double>(at);
    const double deviation = std::sqrt(before * (n - before) * (n + 1) / 12);
    if (const double distance = std::abs(sum - before * (n + 1) / 2) / deviation;
        distance > best.distance) {
      best = {.at = at, .distance = distance};
    }
  }
  return best;
}

/// Where the level changed, if it did.
std::optional<std::size_t> one_change(std::span<const double> figures, double alpha) {
  if (figures.size() < 2 * least_stretch) {
    return std::nullopt;
  }
  std::vector<double> ranks = ranks_of(figures);
  const Split found = best_split(ranks);
  std::mt19937 random; // NOLINT(cert-msc51-cpp): the same file has the same changes
  int as_good = 1;     // the order that is there
  constexpr double rounding = 1e-9;
  for (int i = 0; i < orders; ++i) {
    std::shuffle(ranks.begin(), ranks.end(), random);
    as_good += best_split(ranks).distance >= found.distance - rounding ? 1 : 0;
  }
  return as_good <= alpha * (orders + 1) ? std::optional(found.at) : std::nullopt;
}

void search(std::span<const double> figures, std::size_t offset, double alpha,
            std::vector<std::size_t>& changes) {
  if (const auto at = one_change(figures, alpha)) {
    search(figures.first(*at), offset, alpha, changes);
    changes.push_back(offset + *at);
    search(figures.subspan(*at), offset + *at, alpha, changes);
  }
}

} // namespace

std::vector<std::size_t> change_points(std::span<const double> figures, double alpha) {
  std::vector<std::size_t> changes;
  search(figures, 0, alpha, changes);
  return changes;
}

} // namespace diffbench::bench
