// SPDX-License-Identifier: Apache-2.0
// What the results of runs tell: which cells are wrong beyond rounding, and which of the oracle's
// relatives (variation.hpp) gives them.
#pragma once

#include "diffbench/verify.hpp"
#include "tried_process.hpp"
#include "variation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// A cell that is wrong, and where others are.
struct WrongCells {
  std::int64_t nx = 0, ny = 0, steps = 0; ///< of the run
  Difference difference = {};             ///< x and y of the first one
  double expected = 0, found = 0;         ///< in it
  std::int64_t unwritten = 0;             ///< cells that still hold what was there before
  std::string map = {};                   ///< lines of '.' and '#', the first row at the top
};

/// What explains the results of runs: an arithmetic by the bits, or else a mistake, whatever is
/// rounded.
struct Explanation {
  std::optional<std::size_t> arithmetic = {}; ///< in arithmetics()
  std::optional<Mistake> mistake = {};
};

/// A run, and what came of it.
template <typename T>
struct JudgedRun {
  Problem problem;
  std::int64_t steps = 0;
  Field<T> initial, result;
  std::string with = {}; ///< what is unlike in the usual runs: "with cells below 0"
};

/// What gives the results of all runs; empty where nothing does. At least one run.
template <typename T>
[[nodiscard]] Explanation explain(const std::vector<JudgedRun<T>>& runs);

/// What the oracle gives.
template <typename T>
[[nodiscard]] Field<T> reference_of(const JudgedRun<T>& run);

/// What the order of operations and what a unit does with denormal numbers can make of a result,
/// as Difference says it: where nothing cancels by each cell, else by the largest.
template <typename T>
class Rounding {
 public:
  Rounding(const JudgedRun<T>& run, const Field<T>& expected)
      : most_(17 * static_cast<double>(run.steps)) {
    double low = 0, high = 0;
    for (const auto& cells : {run.initial.cells(), expected.cells()}) {
      for (const T cell : cells) {
        low = std::min(low, static_cast<double>(cell));
        high = std::max(high, static_cast<double>(cell));
      }
    }
    // With a factor near 1/4, u and -4 f u cancel.
    const bool cancels = (low < 0 && high > 0) || run.problem.dt > 0.2;
    largest_ = cancels ? std::max(-low, high) : 0;
  }

  [[nodiscard]] bool allows(T found, T expected) const {
    const double a = found, b = expected;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      return is_poison(found) == is_poison(expected) &&
             (a == b || (std::isnan(a) && std::isnan(b)));
    }
    const double size = std::max({std::abs(a), std::abs(b), largest_});
    return std::abs(a - b) <= most_ * (size * std::numeric_limits<T>::epsilon()) ||
           std::abs(a - b) <= most_ * std::numeric_limits<T>::min();
  }
  [[nodiscard]] bool allows(const Field<T>& found, const Field<T>& expected) const {
    return std::ranges::equal(found.cells(), expected.cells(),
                              [this](T a, T b) { return allows(a, b); });
  }
  /// What is right within rounding becomes so to the bit.
  [[nodiscard]] Field<T> beyond(const Field<T>& found, const Field<T>& expected) const {
    Field<T> beyond(found.nx(), found.ny());
    std::ranges::transform(found.cells(), expected.cells(), beyond.cells().begin(),
                           [this](T a, T b) { return allows(a, b) && !std::isnan(a) ? b : a; });
    return beyond;
  }

 private:
  double most_, largest_ = 0;
};

template <typename T>
[[nodiscard]] WrongCells wrong_cells(const JudgedRun<T>& run, const Field<T>& expected);

} // namespace diffbench::bench
