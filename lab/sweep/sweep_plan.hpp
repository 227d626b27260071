// SPDX-License-Identifier: Apache-2.0
// What a sweep is to measure: options of the comparison with several values each, and all their
// combinations. Nothing is measured here.
#pragma once

#include "comparison_plan.hpp"
#include "option_groups.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace diffbench::bench {

/// More than anybody can wait for, or read.
inline constexpr double max_combinations = 10'000;
/// For the timing rounds of one combination where --budget does not say.
inline constexpr double default_combination_seconds = 1;

/// The options of the comparison, typed with lists and ranges, and one run that they are read into.
struct SweptOptions {
  ComparisonPlan run;
  OptionList list;

  SweptOptions();
};

/// Options with their values, as they would be typed; flags have none.
using OptionValues = std::map<std::string, std::vector<std::string>>;

/// An option with more than one value.
struct Axis {
  std::string option; ///< "--grid"
  std::vector<std::string> values;
};

/// One comparison of the sweep.
struct Combination {
  std::vector<std::string> values; ///< one of each axis
  ComparisonPlan run;
};

struct SweepPlan {
  std::vector<Axis> axes;
  OptionValues options;                  ///< all that were given, with all their values
  double budget_seconds = 0;             ///< of all combinations, where it binds
  std::vector<Combination> combinations; ///< in the order of their numbers

  /// Of combinations. Above max_combinations: at least so many.
  [[nodiscard]] std::size_t count() const;
  /// Of the combination of that number, one of each axis. The first axis varies fastest: grids come
  /// first, so that an early end leaves whole curves, and the time still needed can be told from
  /// the first of them.
  [[nodiscard]] std::vector<std::string> values(std::size_t number) const;
};

/// Checks all combinations. Throws InvalidInput or Unavailable as parse_options() does.
[[nodiscard]] SweepPlan plan_sweep(SweptOptions& swept);

} // namespace diffbench::bench
