// SPDX-License-Identifier: Apache-2.0
// Cuts long work into calls that are short, so that somebody who wants an end need not wait for it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace diffbench {

/// How many steps the next call should make, from what the latest one took. Work that is short
/// stays one call: a cut costs what makes several steps a sweep, or returns before it is done.
/// Where it is cut, calls grow at most twofold: a short one may have been lucky, and one that is
/// sized by its speed alone takes seconds on a machine that is overloaded.
class Pace {
 public:
  static constexpr double longest_call = 0.4; ///< seconds, as far as steps take what they took
  static constexpr double usual_call = 0.2;   ///< of work that has to be cut

  /// Of `steps` > 0 that are to be made. One where nothing is known yet. Where they are cut, and a
  /// call of `whole` is not too long, a multiple of that.
  [[nodiscard]] std::int64_t next(std::int64_t steps, std::int64_t whole = 1) const {
    if (step_seconds_ == 0) {
      return 1;
    }
    if (static_cast<double>(steps) * step_seconds_ <= longest_call) {
      return steps;
    }
    const auto fitting = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(usual_call / step_seconds_), 1, 2 * reached_);
    if (static_cast<double>(whole) * step_seconds_ > longest_call) {
      return fitting;
    }
    return std::min(steps, std::max(whole, fitting / whole * whole));
  }

  /// Until all of it was done.
  void took(std::int64_t steps, double seconds) {
    constexpr double shortest = 1e-12; // no clock resolves it
    step_seconds_ = std::max(seconds / static_cast<double>(steps), shortest);
    reached_ = std::max(steps, reached_ / 2); // what was left of some work may have been short
  }

 private:
  double step_seconds_ = 0;  ///< of the latest call; 0: there was none
  std::int64_t reached_ = 0; ///< steps of a call, halved with each shorter one
};

} // namespace diffbench
