// SPDX-License-Identifier: Apache-2.0
#include "standing.hpp"

#include <utility>

namespace diffbench::bench {

Standing standing_of(const Ratio& ratio, const VerdictRule& rule) {
  return {.ratio = ratio, .verdict = judge(ratio, rule.margin), .alpha = rule.alpha};
}

Standing standing(std::vector<double> quotients, const VerdictRule& rule) {
  return standing_of(ratio_of(std::move(quotients), rule.confidence(), Stopping::sequential), rule);
}

std::optional<std::int64_t> values_to_decide(const Standing& standing,
                                             std::vector<double> quotients, double margin) {
  return standing.verdict == Verdict::unclear
             ? quotients_to_decide(std::move(quotients), 1 - standing.alpha, margin)
             : std::nullopt;
}

} // namespace diffbench::bench
