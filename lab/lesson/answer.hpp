// SPDX-License-Identifier: Apache-2.0
// The answer to a question of a lesson: a figure or a choice, where it comes from, and what it
// makes of a guess.
#pragma once

#include "assumed_card.hpp"
#include "conclusion.hpp"
#include "value.hpp"

#include <limits>
#include <string>
#include <string_view>

namespace diffbench::bench::lesson {

enum class Source {
  absent,    ///< cannot be measured here, and nothing is assumed
  measured,  ///< in this lesson, on this machine
  unclear,   ///< the same, and the samples do not show it
  disturbed, ///< measured while other programs had CPU time: no answer
  assumed,   ///< of a card that is not here
  reported,  ///< by those whose lesson this is
  reasoned,  ///< follows without measuring
};
/// "not measurable here", "measured", ...
[[nodiscard]] std::string_view to_string(Source source);

/// Of a question with choices, one of them; else a figure, whose ends differ where it is assumed.
struct Answer {
  Source source = Source::absent;
  Assumption figure = {};
  char choice = 0; ///< 'a', 'b', ...
};

/// What stands for a figure that a result does not have.
inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

/// Whether a figure that was measured beside other programs still says something: it is known up to
/// a factor of 100.
[[nodiscard]] constexpr bool tells(const Assumption& figure) {
  return figure.high <= 100 * figure.low;
}
/// Without figure and choice where it rests on figures that conclude nothing, also where what is
/// assumed of a card was compared with them.
[[nodiscard]] Answer answered(const Answer& answer, bool concludes);

/// "7.75", "12.7 to 22.3", "b"; empty where there is none.
[[nodiscard]] std::string answer_text(const Answer& answer);

/// What answers are read from.
struct StepResult {
  const Value& own; ///< `diffbench` of the result file
  const AssumedCard& card;
  bool quick = false; ///< of a lesson with --quick: the second side of {full|quick}
  Width width = {};   ///< of what was measured
};
/// The number, or no_figure.
[[nodiscard]] double figure_of(const Value& value);
/// That at `path` of `value`.
[[nodiscard]] double figure(const Value& value, std::string_view path);
/// The text at `path` of `value`; empty where there is none.
[[nodiscard]] std::string text_at(const Value& value, std::string_view path);

/// A guess is right up to this factor, unless a question says otherwise: who knows the order of
/// magnitude and a bit more has understood.
inline constexpr double number_tolerance = 2;

struct Grade {
  bool right = false;
  std::string text; ///< "right", "3.1 times too high", "wrong"; empty where nothing can be said
};
/// `guess` as read_guess() gives it, or empty. Not of an answer that is unclear or disturbed.
[[nodiscard]] Grade grade(const std::string& guess, const Answer& answer, double tolerance);

} // namespace diffbench::bench::lesson
