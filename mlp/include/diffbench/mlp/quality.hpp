// SPDX-License-Identifier: Apache-2.0
// How good a classifier is: what a classification report says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace diffbench::mlp {

struct Scores {
  double precision = 0;     ///< of the rows given this class, the share that has it
  double recall = 0;        ///< of the rows that have it, the share that was given it
  double f1 = 0;            ///< harmonic mean of the two
  std::int64_t support = 0; ///< rows that have it
};

/// Where a quotient has no denominator (a class that was never given, or that no row has) it is 0,
/// as in scikit-learn's report.
struct Quality {
  std::vector<Scores> classes;
  Scores macro;    ///< means over the classes
  Scores weighted; ///< means over the classes, weighted by support
  double accuracy = 0;
  std::int64_t errors = 0; ///< rows given a wrong class
};

/// From the outputs of a network, row-major [rows][classes]; the largest is the class given (the
/// first of equals; a NaN is never the largest). At least one row.
[[nodiscard]] Quality quality_of(std::span<const float> outputs, std::int64_t classes,
                                 std::span<const std::int32_t> labels);

} // namespace diffbench::mlp
