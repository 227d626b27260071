// SPDX-License-Identifier: Apache-2.0
// How trials of the self-test came out: of the same thing, and of the same thing made slower on
// purpose, how often was each verdict given?
#pragma once

#include "lab_report.hpp"
#include "least_effect.hpp"
#include "ratio.hpp"
#include "value.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Fewer say nothing of a rate.
inline constexpr std::int64_t least_trials = 10;

/// What is compared with the reference in each trial.
struct TrialRow {
  std::string label;
  double slowdown; ///< planted, as a fraction of the time
};

/// The trials of one row.
struct Tally : TrialRow {
  std::array<int, 4> verdicts{}; ///< by Verdict
  std::vector<Ratio> ratios = {};

  void add(const Ratio& ratio);
  [[nodiscard]] int count(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
  /// Of the trials, which had `verdict`; there is one at least.
  [[nodiscard]] double share(Verdict verdict) const {
    return count(verdict) / static_cast<double>(ratios.size());
  }
};

/// A line each, with at least one trial.
[[nodiscard]] std::string format_tallies(std::span<const Tally> tallies);
[[nodiscard]] Value tallies_json(std::span<const Tally> tallies);
/// "Of 20 comparisons of identical code 0 got a wrong verdict (0 %); a slowdown of ...". The first
/// tally is of identical code.
[[nodiscard]] std::string tallies_sentence(std::span<const Tally> tallies);
[[nodiscard]] IdenticalCode identical_code(const Tally& tally);

/// Adds to a report that describes trials, and may be disturbed, what identical code got, as
/// `identical`, and keeps it for the verb `kind` of `cache` (least_effect.hpp) where nothing else
/// ran. Too many wrong verdicts are said, and make the exit code 3.
void judge_identical(const Tally& tally, const std::string& kind, const LineCache& cache,
                     LabReport& report);

} // namespace diffbench::bench
