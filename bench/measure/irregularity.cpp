// SPDX-License-Identifier: Apache-2.0
#include "irregularity.hpp"

#include "diffbench/known_names.hpp"
#include "statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace diffbench::bench {

namespace {

/// Smaller ones change no conclusion.
constexpr double least_deviation = 0.05;

using Times = std::span<const double>;

Quartiles quartiles_of(Times times) { return quartiles({times.begin(), times.end()}); }

/// The outer fence of Tukey, "Exploratory Data Analysis" (1977).
double far_out(const Quartiles& q) {
  return std::max(q.q3 + 3 * (q.q3 - q.q1), (1 + least_deviation) * q.median);
}

bool has_slow_first(Times times) {
  const Quartiles others = quartiles_of(times.subspan(1));
  return times.front() > far_out(others) && times.front() > others.max;
}

bool has_strays(Times times) {
  const Times others = times.subspan(1);
  return quartiles_of(others).max > far_out(quartiles_of(others));
}

/// Mann's test for a trend (1945): of all pairs, how many more rise than fall.
bool has_drift(Times times) {
  constexpr double one_in_a_thousand = 3.29; // of the normal distribution, to both sides
  const std::size_t n = times.size();
  double excess = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      excess += times[j] > times[i] ? 1 : times[j] < times[i] ? -1 : 0;
    }
  }
  const auto count = static_cast<double>(n);
  const double deviation = std::sqrt(count * (count - 1) * (2 * count + 5) / 18);
  const double begin = quartiles_of(times.first(n / 3)).median;
  const double end = quartiles_of(times.last(n / 3)).median;
  return std::abs(excess) > one_in_a_thousand * deviation &&
         std::max(begin, end) > (1 + least_deviation) * std::min(begin, end);
}

/// The widest gap between neighbours in size, a fifth of the samples at least on each side, is
/// wider than what either side scatters.
bool has_two_levels(Times times) {
  std::vector<double> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const std::size_t fifth = sorted.size() / 5;
  std::size_t split = fifth;
  for (std::size_t i = fifth; i <= sorted.size() - fifth; ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[split] - sorted[split - 1]) {
      split = i;
    }
  }
  const Quartiles low = quartiles_of(Times(sorted).first(split));
  const Quartiles high = quartiles_of(Times(sorted).subspan(split));
  const double scatter = std::max(low.q3 - low.q1, high.q3 - high.q1);
  return sorted[split] - sorted[split - 1] > 2 * scatter &&
         high.median > (1 + least_deviation) * low.median;
}

struct Kind {
  Irregularity irregularity;
  std::string_view name;
  std::size_t least_samples; ///< with fewer, chance looks like it too often
  bool (*found)(Times times);
  const char* hint; ///< {} are the rows
};

constexpr std::array kinds{
    Kind{Irregularity::slow_first, "slow_first", 5, has_slow_first,
         "the first sample of {} was far slower than the others: something was not warm (caches, "
         "clock frequency); the median is not affected"},
    Kind{Irregularity::drift, "drift", 10, has_drift,
         "the times of {} rise or fall throughout the run: the clock frequency or the load is "
         "changing; let the machine settle and measure again"},
    Kind{Irregularity::two_levels, "two_levels", 15, has_two_levels,
         "the times of {} are of two kinds: another program came or went, or threads share a "
         "core; the median may be of either kind"},
    Kind{Irregularity::strays, "strays", 10, has_strays,
         "single samples of {} are far slower than the others: interrupts or another program; "
         "the median is not affected"},
};

} // namespace

std::string_view to_string(Irregularity irregularity) {
  const auto kind = std::ranges::find_if(
      kinds, [&](const Kind& planned) { return planned.irregularity == irregularity; });
  return kind->name;
}

std::vector<Irregularity> irregularities(std::span<const double> seconds) {
  std::vector<Irregularity> found;
  for (const Kind& kind : kinds) {
    if (seconds.size() >= kind.least_samples && kind.found(seconds)) {
      found.push_back(kind.irregularity);
    }
  }
  return found;
}

std::vector<std::string> irregularity_notes(std::span<const Row> rows) {
  std::vector<std::string> notes;
  for (const Kind& kind : kinds) {
    const auto names = names_in(rows, [&](const Row& row) {
      return row.samples.size() >= kind.least_samples && kind.found(iteration_seconds(row.samples));
    });
    if (!names.empty()) {
      notes.push_back(fmt::format(fmt::runtime(kind.hint), fmt::join(names, ", ")));
    }
  }
  return notes;
}

} // namespace diffbench::bench
