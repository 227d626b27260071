// SPDX-License-Identifier: Apache-2.0
// The order of the rows of one run, while it is being measured and afterwards: each row and the
// next slower one are a claim, and rows rest while all claims that they are in are decided.
#pragma once

#include "planning.hpp"
#include "standing.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace diffbench::bench {

/// A row and the next one in the order of the medians.
struct Neighbours {
  const TimedRow* faster = nullptr;
  const TimedRow* slower = nullptr;
  std::int64_t rounds = 0; ///< in which both took a sample
  Standing standing = {};  ///< of the times of `slower` over those of `faster`
  /// See values_to_decide(); filled by with_remedies().
  std::optional<std::int64_t> rounds_to_decide = {};

  [[nodiscard]] bool decided() const { return standing.verdict != Verdict::unclear; }
  /// That rounds of the two take, without what comes between samples.
  [[nodiscard]] double seconds_of(std::int64_t more_rounds) const;
};

/// For the order of the rows of one run, where a difference counts from `least_effect` on.
[[nodiscard]] inline VerdictRule order_rule(double least_effect) {
  return {.margin = least_effect, .alpha = 1 - ratio_confidence};
}

/// Of the rows with samples, which the result points to. Any two of them may come to be neighbours,
/// so alpha is shared by all pairs (standings()). Without common rounds a pair is undecided.
[[nodiscard]] std::vector<Neighbours> neighbours(std::span<const TimedRow* const> rows,
                                                 const VerdictRule& rule);
/// The same, with what would decide each.
[[nodiscard]] std::vector<Neighbours> with_remedies(std::vector<Neighbours> all,
                                                    const VerdictRule& rule);

/// For run_rounds(): a row that has the usual number of samples has enough when it is in no pair
/// that is undecided.
class DecidedRows {
 public:
  explicit DecidedRows(const VerdictRule& rule) : rule_(rule) {}

  template <typename Contender>
  void look(std::span<const Contender> contenders) {
    std::vector<const TimedRow*> rows;
    for (const Contender& contender : contenders) {
      if (contender.timed && !contender.row.samples.empty()) {
        rows.push_back(&contender.row);
      }
    }
    undecided_.clear();
    for (const Neighbours& pair : neighbours(rows, rule_)) {
      if (!pair.decided()) {
        undecided_.insert(undecided_.end(), {pair.faster, pair.slower});
      }
    }
  }
  template <typename Contender>
  [[nodiscard]] bool operator()(const Contender& contender) const {
    return contender.row.samples.size() >= rounds_wanted &&
           std::ranges::find(undecided_, &contender.row) == undecided_.end();
  }

 private:
  VerdictRule rule_;
  std::vector<const TimedRow*> undecided_;
};

} // namespace diffbench::bench
