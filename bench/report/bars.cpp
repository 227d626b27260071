// SPDX-License-Identifier: Apache-2.0
#include "bars.hpp"

#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr int narrowest = 10;
constexpr int widest = 60;
constexpr int figure_columns = 7; // "1.23 ms"
constexpr std::string_view ladder_title = "time/iter (log)";
/// Up to here bars begin at 0, so that their lengths are as their times; beyond, the shortest would
/// be nothing.
constexpr double widest_linear = 20;

/// A line of a drawing: name, bar, figure.
struct Bar {
  std::string name;
  std::string bar;
  double seconds;
};

std::size_t name_columns(const ComparisonResult& result) {
  std::size_t longest = ladder_title.size();
  for (const Row& row : result.rows) {
    longest = std::max(longest, row.name.size());
  }
  return longest;
}

int bar_columns(const ComparisonResult& result, int columns) {
  const int name = static_cast<int>(name_columns(result));
  return std::clamp(columns - name - figure_columns - 4, narrowest, widest);
}

std::string format_lines(const ComparisonResult& result, const std::vector<Bar>& bars, int width) {
  std::string text;
  for (const Bar& bar : bars) {
    text += fmt::format("{:<{}}  {:<{}}  {:>{}}\n", bar.name, name_columns(result), bar.bar, width,
                        format_seconds(bar.seconds), figure_columns);
  }
  return text;
}

/// Bars from 0 on; where times are too far apart for that, on a logarithmic axis from a power of
/// ten below all times to one above, which the title says.
std::string format_ladder(const ComparisonResult& result, int width) {
  std::vector<Bar> bars;
  double least = INFINITY;
  double most = 0;
  for (const Row* row : fastest_last(result)) {
    if (row->ranked()) {
      const double seconds = *seconds_per_iteration(*row);
      bars.push_back({.name = row->name, .bar = {}, .seconds = seconds});
      least = std::min(least, seconds);
      most = std::max(most, seconds);
    }
  }
  if (bars.empty() || !(least > 0)) {
    return "";
  }
  const auto columns_of = [&](double share) {
    return static_cast<std::size_t>(std::max(1L, std::lround(share * width)));
  };
  if (most <= widest_linear * least) {
    for (Bar& bar : bars) {
      bar.bar.assign(columns_of(bar.seconds / most), '=');
    }
    return "\ntime/iter\n" + format_lines(result, bars, width);
  }
  const double low = std::floor(std::log10(least));
  const double high = std::max(std::ceil(std::log10(most)), low + 1);
  for (Bar& bar : bars) {
    const double share = (std::log10(bar.seconds) - low) / (high - low);
    bar.bar.assign(columns_of(share), '=');
  }
  const std::string from = format_seconds(std::pow(10, low));
  const std::string to = format_seconds(std::pow(10, high));
  return fmt::format("\n{:<{}}  {:<{}}{}\n", ladder_title, name_columns(result), from,
                     width - static_cast<int>(to.size()), to) +
         format_lines(result, bars, width);
}

struct Mark {
  std::string_view phase;
  char character;
};
constexpr std::array<Mark, named_phases.size()> marks{{{"context", 'x'},
                                                       {"alloc", 'a'},
                                                       {"pin", 'p'},
                                                       {"h2d", '>'},
                                                       {"launch", 'l'},
                                                       {"compute", '#'},
                                                       {"sync", 's'},
                                                       {"d2h", '<'},
                                                       {"free", 'f'}}};
constexpr char unexplained_mark = '?';

/// Each phase as many characters as its share of the wall time. The ends of the phases are rounded,
/// not their lengths, so that the bar is full.
std::string stacked(const Phases& phases, int width, std::array<bool, marks.size()>& seen) {
  std::string bar;
  double end = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const std::optional<double> seconds = phases.*named_phases.at(i).member;
    if (seconds) {
      end += *seconds;
      const auto size =
          static_cast<std::size_t>(std::lround(std::clamp(end / phases.wall, 0.0, 1.0) * width));
      seen.at(i) = seen.at(i) || size > bar.size();
      bar.resize(std::max(bar.size(), size), marks.at(i).character);
    }
  }
  bar.resize(static_cast<std::size_t>(width), unexplained_mark);
  return bar;
}

std::string format_warm_runs(const ComparisonResult& result, int width) {
  std::vector<Bar> bars;
  std::array<bool, marks.size()> seen{};
  for (const Row* row : fastest_last(result)) {
    if (row->ranked() && row->warm && row->warm->wall > 0) {
      bars.push_back(
          {.name = row->name, .bar = stacked(*row->warm, width, seen), .seconds = row->warm->wall});
    }
  }
  if (bars.empty()) {
    return "";
  }
  std::string legend;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (seen.at(i)) {
      legend += fmt::format("{} {}, ", marks.at(i).character, marks.at(i).phase);
    }
  }
  return fmt::format("\nshares of the warm run: {}{} unexplained\n", legend, unexplained_mark) +
         format_lines(result, bars, width);
}

} // namespace

std::string format_bars(const ComparisonResult& result, int columns) {
  const int width = bar_columns(result, columns);
  return format_ladder(result, width) + format_warm_runs(result, width);
}

} // namespace diffbench::bench
