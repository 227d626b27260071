// SPDX-License-Identifier: Apache-2.0
// What may be concluded from figures: the one place that decides it. Every sentence, verdict and
// mark of every verb asks here before it says what figures show.
//
// Figures show an order, or that a bar is reached, where the interval of their ratio does; medians
// alone conclude nothing. What was measured beside other programs concludes the same where it is
// known what they may have done to each sample (Sample::stolen_seconds and slack): intervals then
// hold all that an idle machine may show, and a finding says how wide its figures are. Where that
// is not known, two rows that met unlike load differ by any factor, and nothing is concluded.
#pragma once

#include "ratio.hpp"
#include "result.hpp"

#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace diffbench::bench {

enum class Evidence {
  sound,
  disturbed, ///< other programs had CPU time (foreign_load.hpp)
};

[[nodiscard]] constexpr Evidence evidence(bool disturbed) {
  return disturbed ? Evidence::disturbed : Evidence::sound;
}
[[nodiscard]] constexpr bool concludes(Evidence figures) { return figures == Evidence::sound; }

/// What is said in the place of a finding that the figures do not carry.
inline constexpr const char* no_conclusion =
    "No conclusion: other programs were running, so these figures show nothing.";

/// `finding` where `figures` carry it, else no_conclusion; nothing in the place of nothing.
[[nodiscard]] inline std::string concluded(Evidence figures, std::string finding) {
  return concludes(figures) || finding.empty() ? std::move(finding) : no_conclusion;
}

/// Whether a ratio is `bar` or more; empty where its interval holds both, or it has none.
[[nodiscard]] inline std::optional<bool> reaches(const Ratio& ratio, double bar) {
  if (!ratio.interval || (ratio.interval->low < bar && ratio.interval->high >= bar)) {
    return std::nullopt;
  }
  return ratio.interval->low >= bar;
}

/// The row with the least median, and the next one that may be as fast.
template <typename Row>
struct Leader {
  const Row* best = nullptr;  ///< nullptr without any
  const Row* rival = nullptr; ///< nullptr: all others are shown to be slower
  Ratio ratio = {};           ///< of the rival over the best

  [[nodiscard]] bool is_sure() const { return best != nullptr && rival == nullptr; }
};

/// Of TimedRows of one run that `admits`, all of which have samples. `compare(row, best)` is the
/// ratio of their times.
template <typename Rows, typename Admits, typename Compare>
[[nodiscard]] auto leader(const Rows& rows, Admits admits, double least_effect, Compare compare)
    -> Leader<std::ranges::range_value_t<Rows>> {
  using Row = std::ranges::range_value_t<Rows>;
  Leader<Row> found{.best = fastest(rows, admits, &Row::step_seconds)};
  for (const Row& row : rows) {
    if (&row == found.best || !admits(row) ||
        (found.rival != nullptr && row.step_seconds() >= found.rival->step_seconds())) {
      continue;
    }
    const Ratio ratio = compare(row, *found.best);
    if (judge(ratio, least_effect) != Verdict::slower) {
      found.rival = &row;
      found.ratio = ratio;
    }
  }
  return found;
}
/// The same, as ratio_in_run() has it.
template <typename Rows, typename Admits>
[[nodiscard]] auto leader(const Rows& rows, Admits admits, double least_effect) {
  using Row = std::ranges::range_value_t<Rows>;
  return leader(rows, admits, least_effect, [](const Row& row, const Row& best) {
    return ratio_in_run(row.samples, best.samples);
  });
}
/// Of rows that were timed one after another.
template <typename Rows, typename Admits>
[[nodiscard]] auto leader_apart(const Rows& rows, Admits admits, double least_effect) {
  using Row = std::ranges::range_value_t<Rows>;
  return leader(rows, admits, least_effect, [](const Row& row, const Row& best) {
    return ratio_apart(row.samples, best.samples);
  });
}

} // namespace diffbench::bench
