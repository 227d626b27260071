// SPDX-License-Identifier: Apache-2.0
// How many times as long one thing takes as another, with an interval, and what may be concluded.
//
// Both are measured in interleaved rounds, so the two times of a round have met the same machine:
// its state cancels in their quotient, and each round gives one estimate of the ratio. Times that
// were not taken in one run have no such pairs; run_ratio.hpp is for them.
#pragma once

#include "statistics.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Of all intervals of ratios: 1 wrong verdict in 100, if nothing but chance is at work.
inline constexpr double ratio_confidence = 0.99;

struct Ratio {
  double value = 1;
  std::optional<Interval> interval; ///< empty: too few samples for one
};

/// The median of the quotients of `seconds` and `reference`, pair by pair, with its interval as
/// median_interval() gives it. That assumes nothing of how times scatter, and bears disturbed
/// rounds: in 20, any three to each side. For equal code a quotient is as often above 1 as below,
/// since the members of a pair could as well be exchanged. At least one pair; eight are needed for
/// an interval.
[[nodiscard]] Ratio paired_ratio(std::span<const double> seconds,
                                 std::span<const double> reference);

/// The same of quotients that are there already, at least one.
[[nodiscard]] Ratio ratio_of(std::vector<double> quotients, double confidence = ratio_confidence,
                             Stopping stopping = Stopping::planned);

/// Of two rows of one run: the quotients of the rounds in which both took a sample.
[[nodiscard]] std::vector<double> paired_quotients(std::span<const Sample> samples,
                                                   std::span<const Sample> reference);
/// The ratio of these. Empty without any.
[[nodiscard]] std::optional<Ratio> paired_ratio(std::span<const Sample> samples,
                                                std::span<const Sample> reference,
                                                Stopping stopping = Stopping::planned);

/// The same of two that were timed apart, at least once each: the quotient of their medians. The
/// interval is what intervals of both medians leave, each of which misses with half the
/// probability; with too few samples for these, the range of all quotients of one of each, which is
/// as sure where it leaves 1 out only because all of one are beyond all of the other (the rank sum
/// test's extreme, of 5 and 5, or 4 and 6 samples).
[[nodiscard]] Ratio ratio_apart(std::span<const double> seconds, std::span<const double> reference);
/// The same of samples; beside other programs the interval holds for all times that the idle
/// machine may need (idle_interval()), as that of paired_ratio() of samples does.
[[nodiscard]] Ratio ratio_apart(std::span<const Sample> samples, std::span<const Sample> reference);

/// Of two rows of one run that have samples: in the rounds that both have, where these are enough,
/// else apart. Of samples that were taken until they showed enough, only the former has an
/// interval.
[[nodiscard]] Ratio ratio_in_run(std::span<const Sample> samples, std::span<const Sample> reference,
                                 Stopping stopping = Stopping::planned);

/// How far all of the interval lies from 1: 0.03 where it says 3 % or more; 0 where it holds 1, or
/// there is none.
[[nodiscard]] double excluded_effect(const Ratio& ratio);

enum class Verdict { faster, slower, same, unclear };
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// `faster` or `slower` only where the whole interval is beyond 1 by more than `least_effect`: less
/// than that the placement of memory does to identical code. `same` where all of it is within.
[[nodiscard]] Verdict judge(const Ratio& ratio, double least_effect);
/// Faster or slower.
[[nodiscard]] constexpr bool is_difference(Verdict verdict) {
  return verdict == Verdict::faster || verdict == Verdict::slower;
}

/// About how many quotients in all would give another verdict than `unclear`, if those to come are
/// like the ones that are there: an extrapolation. Of sequential stopping; at least one quotient.
/// Empty where `most` would not.
[[nodiscard]] std::optional<std::int64_t> quotients_to_decide(std::vector<double> quotients,
                                                              double confidence,
                                                              double least_effect,
                                                              std::int64_t most = 100'000);

/// For rows of one run; see docs/measuring.md for what it was set by.
inline constexpr double least_effect_in_run = 0.02;

} // namespace diffbench::bench
