// SPDX-License-Identifier: Apache-2.0
// A classic mistake of measuring, beside the right measurement of the same work.
//
// To add one: write a function that measures both ways, an entry in the table of the file of its
// kind (timed_region.cpp, sampling.cpp, comparisons.cpp, on_gpu.cpp), and the words for it in
// pitfalls.toml. Nothing else has to know of it.
#pragma once

#include "assumed_card.hpp"
#include "lab_report.hpp"
#include "workbench.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

enum class Needs { cpu, gpu };
[[nodiscard]] std::string_view to_string(Needs needs);

/// What a mistake does to the time that is read.
enum class Effect {
  none,
  too_slow,
  too_fast,
  either,  ///< as a Pitfall's usual effect only
  unclear, ///< as a Finding's only
};

struct Pitfall {
  std::string_view name;
  Needs needs = Needs::cpu;
  Effect usual = Effect::too_slow; ///< `why` explains this one
  std::string_view work;           ///< that is measured in both ways
  std::string_view mistake;        ///< what is timed, or taken for the time
  std::string_view right;          ///< the same, done right
  std::string_view why;            ///< it misleads: a sentence
  std::string_view absent;         ///< why it may not on some machines: a sentence
  std::string_view advice;         ///< what to do instead: a sentence
  Finding (*measure)(Workbench& bench) = nullptr;
};

/// Below this the two readings are called the same.
inline constexpr double least_factor = 1.1;

/// What a factor says by itself: none when it is nearly 1, unclear when the clock did not move.
[[nodiscard]] Effect effect_of(double factor);
/// "3.1x too slow"; what `none` and `nothing_left` say of the rest.
[[nodiscard]] std::string factor_text(double factor, const std::string& none,
                                      const std::string& nothing_left);

/// What the mistake did here; unclear also where the rounds do not show it (judge() of ratio.hpp).
[[nodiscard]] Effect effect_of(const Finding& finding);

/// "3.1x too slow", "no effect (1.02x)".
[[nodiscard]] std::string verdict(const Finding& finding);

/// The sentence to what was measured, whichever way it went.
[[nodiscard]] std::string explanation(const Pitfall& pitfall, const Finding& finding);

struct MeasuredPitfall {
  std::string_view name; ///< as pitfalls.toml has it
  Finding (*measure)(Workbench& bench);
};
// The tables of the files.
[[nodiscard]] std::span<const MeasuredPitfall> timed_region_pitfalls();
[[nodiscard]] std::span<const MeasuredPitfall> lazy_pitfalls();
[[nodiscard]] std::span<const MeasuredPitfall> sampling_pitfalls();
[[nodiscard]] std::span<const MeasuredPitfall> comparison_pitfalls();
[[nodiscard]] std::span<const MeasuredPitfall> gpu_pitfalls();

/// All of pitfalls.toml, in its order.
[[nodiscard]] std::vector<Pitfall> all_pitfalls();

/// Measures one after another; what one leaves of its share of the budget is for those after it.
/// One that cannot run here, or whose result is wrong, is in the report and says why. Throws
/// Unavailable when nothing could be measured for want of a GPU, Interrupted when Ctrl-C came
/// before there was anything to keep. With a card `assumed`, those that need a GPU are also told of
/// that one, and nothing is unavailable.
[[nodiscard]] LabReport measure_pitfalls(std::span<const Pitfall> chosen, Workbench& bench,
                                         double budget_seconds, Progress& progress,
                                         const std::optional<AssumedCard>& assumed = {});

// `--assume CARD`: what the mistakes that need a GPU would read on one that is not here.

/// Whether a card's figures say what that mistake would read: not of all that need a GPU.
[[nodiscard]] bool is_assumable(std::string_view pitfall);

/// Adds those of `chosen` to a report, whose rows have what was measured; where that was on such a
/// card, the assumption's error against it instead. `problem` is that of all of them.
void append_assumed_pitfalls(LabReport& report, const AssumedCard& card,
                             std::span<const Pitfall> chosen, const Problem& problem);

/// Those of `names` in the table's order; all when there are none. Throws InvalidInput, listing the
/// valid names, for an unknown one.
[[nodiscard]] std::vector<Pitfall> choose_pitfalls(const std::vector<std::string>& names);

/// Name, what it needs, the work and the mistake, a line each.
[[nodiscard]] std::string list_pitfalls(std::span<const Pitfall> pitfalls);

} // namespace diffbench::bench
