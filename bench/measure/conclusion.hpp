// What may be concluded from figures: the one place that decides it. Every sentence, verdict and
// mark of every verb asks here before it says what figures show.
//
// A figure that was measured beside other programs is shown, and concludes nothing: two rows that
// met unlike load differ by any factor, and no interval within the run shows it. Where the load was
// the same for both, as in interleaved rounds, judge() of ratio.hpp asks the interval besides.
#pragma once

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

} // namespace diffbench::bench
