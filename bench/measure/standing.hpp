// SPDX-License-Identifier: Apache-2.0
// What is known of a ratio while it is still being measured.
//
// `duel`, `compare` and what tests them get their verdicts here; ratio.hpp has
// the intervals.
#pragma once

#include "ratio.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace diffbench::bench {

/// By which ratios are judged.
struct VerdictRule {
  double margin = 0.02; ///< a difference up to this is none
  double alpha = 0.01;  ///< probability of a wrong difference, however long one looks

  [[nodiscard]] double confidence() const { return 1 - alpha; }
};

/// Of one ratio.
struct Standing {
  Ratio ratio;
  Verdict verdict = Verdict::unclear;
  double alpha = 0.01; ///< the rule's
};
/// Of a ratio whose interval, if it has one, is at the rule's confidence.
[[nodiscard]] Standing standing_of(const Ratio& ratio, const VerdictRule& rule);
/// By a sequential interval of the median of quotients, one at least; there is none of fewer than
/// 10 at 1 %.
[[nodiscard]] Standing standing(std::vector<double> quotients, const VerdictRule& rule);

/// About how many quotients in all would decide it, see quotients_to_decide(); empty where it is
/// decided, and where no number would do.
[[nodiscard]] std::optional<std::int64_t> values_to_decide(const Standing& standing,
                                                           std::vector<double> quotients,
                                                           double margin);

} // namespace diffbench::bench
