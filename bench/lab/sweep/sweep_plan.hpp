// What a sweep is to measure: options of the comparison with several values each, and all their
// combinations. Nothing is measured here.
#pragma once

#include "comparison_options.hpp"
#include "option_groups.hpp"

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
  Options run;
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
  Options options;
};

struct SweepPlan {
  std::vector<Axis> axes;
  /// The first axis varies fastest: grids come first, so that an early end leaves whole curves, and
  /// the time still needed can be told from the first of them.
  std::vector<Combination> combinations;
  /// All options that were given, with all their values: what a resumed sweep must have, too.
  OptionValues options;
};

/// Checks all combinations. Throws InvalidInput or Unavailable as parse_options() does.
[[nodiscard]] SweepPlan plan_sweep(SweptOptions& swept);

} // namespace diffbench::bench
