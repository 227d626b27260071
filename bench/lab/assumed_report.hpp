// SPDX-License-Identifier: Apache-2.0
// What all experiments say of an assumed card in the same words, each of them marked as assumed.
#pragma once

#include "assumed_card.hpp"
#include "diffbench/problem.hpp"
#include "lab_report.hpp"
#include "option_list.hpp"
#include "value.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// --assume CARD|FILE.
void declare_assume(OptionList& options, std::optional<AssumedCard>& card);

/// An object of low and high.
[[nodiscard]] Value span_json(const Assumption& span);
/// "240 to 570 us", "900 us to 1.20 ms", of such an object, or one figure where both read alike.
[[nodiscard]] std::string as_seconds_span(const Value& span);
[[nodiscard]] std::string as_ratio_span(const Value& span); ///< "2.10x to 9.30x"

/// Adds `rows`, each with its mark, to the lines of --csv.
void add_marked_rows(LabReport& report, const Value& rows);

/// How many times as fast as `rival_seconds`, by the slow end and by the fast one.
[[nodiscard]] Assumption times_as_fast(double rival_seconds, const Assumption& seconds);

/// The heading of a table whose rows are all of this card.
[[nodiscard]] std::string assumed_title(const AssumedCard& card);
/// "cuda_graph (assumed h200)": as a row is called in a table.
[[nodiscard]] std::string assumed_name(const std::string& row, const AssumedCard& card);

/// Whether so many bytes, or two fields, fit: "yes", "no", or "perhaps" where the ends of its
/// memory disagree.
[[nodiscard]] std::string fits(const AssumedCard& card, double bytes);
[[nodiscard]] std::string fits(const AssumedCard& card, const Problem& problem);
/// "two fields take 3.12 MiB of its 139 to 140 GiB: they fit", not a whole sentence.
[[nodiscard]] std::string fit_text(const AssumedCard& card, double bytes,
                                   std::string_view what = "two fields");
[[nodiscard]] std::string fit_text(const AssumedCard& card, const Problem& problem);

/// "240 us" and "570 us" are "240 to 570 us".
[[nodiscard]] std::string join_ends(const std::string& low, const std::string& high);
/// "2.10 to 9.30 times as fast", "1.10 to 4 times as slow", or from one to the other.
[[nodiscard]] std::string pace_text(const Assumption& times);
/// "2.10 to 9.30 times as fast as simd: not worth it by the rule of 10 times", no whole sentence.
[[nodiscard]] std::string worth_text(const Assumption& times, const std::string& rival);
/// True or false, null where the ends disagree.
[[nodiscard]] Value worth_json(const Assumption& times);

/// Whether a GPU that the CUDA runtime calls so is such a card.
[[nodiscard]] bool is_such(const AssumedCard& card, std::string_view gpu_name);

/// What was measured on such a card against what would have been assumed.
struct AssumptionCheck {
  std::string row;
  std::string what;   ///< "warm", "cold", "step"
  Assumption assumed; ///< seconds
  double measured = 0;

  /// 0 within the span, +0.2 where even the low end is a prediction 20 % too slow, -0.2 where even
  /// the high end is one 20 % too fast.
  [[nodiscard]] double error() const;
};
/// Adds them, of which there are some, with the error of each, and a sentence on the worst: what a
/// report says of a card whose measured figures replace the assumed ones.
void append_checks(LabReport& report, const AssumedCard& card,
                   std::span<const AssumptionCheck> checks);

} // namespace diffbench::bench
