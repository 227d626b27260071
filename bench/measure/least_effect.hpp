// SPDX-License-Identifier: Apache-2.0
// How large a difference must be here before it is one: what `selftest` found out about this
// machine, kept for verdicts on two rows of a run and on two runs.
#pragma once

#include "diffbench/line_cache.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace diffbench::bench {

/// Comparisons of identical code.
struct IdenticalCode {
  std::int64_t trials = 0;
  std::int64_t wrong = 0; ///< called faster or slower
  /// From which on a verdict would have been wrong no more often than its confidence allows; at
  /// least least_effect_in_run.
  double least_effect = 0;

  /// More wrong ones than chance explains at the confidence of the intervals.
  [[nodiscard]] bool too_many() const;
};

/// Whether `wrong` of so many verdicts are more than intervals of ratio_confidence give by chance,
/// itself with that confidence: a binomial test.
[[nodiscard]] bool too_many_wrong(std::int64_t wrong, std::int64_t trials);

/// Of what each comparison's interval excludes: 0 where it holds 1, 0.03 where all of it is 3 % or
/// more to one side. At least one.
[[nodiscard]] IdenticalCode identical_code(std::span<const double> excluded);

/// Of machines with this CPU; an unreadable cache keeps nothing.
[[nodiscard]] std::optional<IdenticalCode> kept_identical_code(
    const LineCache& cache = LineCache::standard("verdicts"));
/// Fewer trials do not replace more, but where they found worse. Throws Error when it cannot be
/// written.
void keep_identical_code(const IdenticalCode& found,
                         const LineCache& cache = LineCache::standard("verdicts"));

/// What a verdict asks for here: least_effect_in_run, or what was kept if that is more.
[[nodiscard]] double least_effect_here();

} // namespace diffbench::bench
