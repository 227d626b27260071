// SPDX-License-Identifier: Apache-2.0
#include "standing.hpp"

#include <algorithm>
#include <utility>

namespace diffbench::bench {

Standing standing_of(const Ratio& ratio, const VerdictRule& rule) {
  return {.ratio = ratio, .verdict = judge(ratio, rule.margin), .alpha = rule.alpha};
}

Standing standing(std::vector<double> quotients, const VerdictRule& rule) {
  return standing_of(ratio_of(std::move(quotients), rule.confidence(), Stopping::sequential), rule);
}

std::vector<Standing> standings(std::span<const std::vector<double>> quotients,
                                const VerdictRule& rule, std::size_t claims) {
  std::vector<Standing> found(quotients.size());
  const std::size_t possible = std::max(claims, quotients.size());
  for (std::size_t differences = 0;;) {
    VerdictRule each = rule;
    each.alpha /= static_cast<double>(possible - differences);
    const std::size_t before = differences;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!is_difference(found[i].verdict)) {
        found[i] = standing(quotients[i], each);
        differences += is_difference(found[i].verdict) ? 1 : 0;
      }
    }
    if (differences == before || differences == possible) {
      return found;
    }
  }
}

std::optional<std::int64_t> values_to_decide(const Standing& standing,
                                             std::vector<double> quotients, double margin) {
  return standing.verdict == Verdict::unclear
             ? quotients_to_decide(std::move(quotients), 1 - standing.alpha, margin)
             : std::nullopt;
}

} // namespace diffbench::bench
