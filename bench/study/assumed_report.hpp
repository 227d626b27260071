// SPDX-License-Identifier: Apache-2.0
// What all experiments say of an assumed card: one row type, one table, one sentence, each of them
// marked as assumed.
#pragma once

#include "bill.hpp"
#include "diffbench/problem.hpp"
#include "lab_report.hpp"
#include "option_list.hpp"
#include "result.hpp"
#include "value.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// --assume CARD|FILE.
void declare_assume(OptionList& options, std::optional<AssumedCard>& card);

/// An object of low and high.
[[nodiscard]] Value span_json(const Assumption& span);
/// "240 to 570 us", "900 us to 1.20 ms", of such an object, or one figure where both read alike.
[[nodiscard]] std::string as_seconds_span(const Value& span);
[[nodiscard]] inline std::string seconds_text(const Assumption& seconds) {
  return as_seconds_span(span_json(seconds));
}

/// The heading of a table whose rows are all of this card.
[[nodiscard]] std::string assumed_title(const AssumedCard& card);
/// "cuda_graph (assumed h200)": as a row is called in a table.
[[nodiscard]] std::string assumed_name(const std::string& row, const AssumedCard& card);

/// How many times as fast as `rival_seconds`, by the slow end and by the fast one.
[[nodiscard]] Assumption times_as_fast(double rival_seconds, const Assumption& seconds);
/// "2.10 to 9.30 times as fast", "1.10 to 4 times as slow", or from one to the other.
[[nodiscard]] std::string pace_text(const Assumption& times);
/// Of the whole, at either end; the one may be more than the other.
[[nodiscard]] Assumption share_of(const Assumption& part, const Assumption& whole);
/// "30 to 42 %", of an object of low and high.
[[nodiscard]] std::string as_percent_span(const Value& share);

/// A run on a card.
struct AssumedRun {
  std::string name; ///< "cuda_stream, pageable"
  CardRun run;
  Bill bill;
  Assumption step; ///< seconds, with the copies on the way, but for the first and the last
};
[[nodiscard]] AssumedRun assume(const AssumedCard& card, std::string name, const CardRun& run,
                                const CellWork& work);

/// What it is compared with.
struct Rival {
  std::string name;
  double seconds = 0; ///< of a step, or of a whole run
  Width width = {};   ///< of that
};

struct AssumedRuns {
  AssumedCard card;
  std::vector<AssumedRun> runs;    ///< the first is how a port begins, the others are better
  double bytes = 0;                ///< of its memory,
  std::string what = "two fields"; ///< for these
  std::optional<Rival> rival = {};
  bool whole = false;  ///< whole runs are compared, not steps
  bool ledger = false; ///< a table of where the time goes, too
  /// What the sentence ends in.
  std::string answer = {};
};

/// Whether a GPU that the CUDA runtime calls so is such a card.
[[nodiscard]] bool is_such(const AssumedCard& card, std::string_view gpu_name);
/// "yes", "no", or "perhaps" where the ends of its memory disagree.
[[nodiscard]] std::string fits(const AssumedCard& card, double bytes);
/// The run that takes least time, by both ends together.
[[nodiscard]] const AssumedRun& best_of(const AssumedRuns& assumed);

/// Adds the rows and what they come to. Where `measured` has rows that ran on such a card, the
/// errors of what would have been assumed of them instead.
void append_assumed(LabReport& report, const AssumedRuns& assumed,
                    const ComparisonResult& measured);

/// What rules a bill: "1000 launches: 40 to 62 %", and what to change first.
struct Ruling {
  PartKind kind{};
  std::string text, advice;
};
/// Of a warm run, or of all of it; nothing where that takes no time.
[[nodiscard]] std::optional<Ruling> ruling_of(const Bill& bill, bool warm);

/// Adds `rows`, each with its mark, to the lines of --csv.
void add_marked_rows(LabReport& report, const Value& rows);

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
