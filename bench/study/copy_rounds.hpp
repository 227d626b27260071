// SPDX-License-Identifier: Apache-2.0
// Samples of all ways to copy one size, in interleaved rounds.
//
// A template over the clock and over what copies, so that the tests use fakes of both, and host and
// device are measured alike.
#pragma once

#include "diffbench/stopwatch.hpp"
#include "rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>

namespace diffbench::bench {

/// Samples of a size, and the fewest where a copy is long: an odd number has a median that was
/// measured.
inline constexpr int copy_rounds = 7;
inline constexpr int fewest_copy_rounds = 3;

/// What copies of growing sizes may take, in seconds.
struct CopyTime {
  double planned = 0; ///< by the samples of all sizes, of which large ones may take longer
  double limit = std::numeric_limits<double>::infinity();
};

/// Says when copies of the next size would take longer than there is time.
template <typename Clock>
class CopyDeadline {
 public:
  /// Each size has a `share` of the time, and takes longer where a few copies do.
  CopyDeadline(double limit, double share) : limit_(limit), share_(share) {}

  /// Seconds that copies of `bytes` may take, which are about to begin; 0: there is no time for
  /// them. There always is for a few small ones, also where others had the CPUs meanwhile.
  [[nodiscard]] double seconds_for(std::int64_t bytes) {
    constexpr double few = 0.05;
    return allows(bytes) ? share_ : bytes < large ? few * share_ : 0;
  }
  /// Whether copies of `bytes` may begin.
  [[nodiscard]] bool allows(std::int64_t bytes) {
    const double now = watch_.seconds();
    const double took = now - latest_begin_;
    const double expected =
        latest_bytes_ < large || took < 2 * share_
            ? share_
            : took * static_cast<double>(bytes) / static_cast<double>(latest_bytes_);
    latest_begin_ = now;
    latest_bytes_ = bytes;
    return now + expected <= limit_;
  }

 private:
  static constexpr std::int64_t large = 1 << 20; ///< less takes long for other reasons
  double limit_, share_;
  Stopwatch<Clock> watch_;
  double latest_begin_ = 0;
  std::int64_t latest_bytes_ = 0;
};

/// How often to copy in each of how many samples, so that they fill `row_seconds`.
[[nodiscard]] inline SamplePlan plan_copies(double seconds_per_copy, double row_seconds) {
  const double copies = row_seconds / std::max(seconds_per_copy, 1e-9);
  const int rounds =
      static_cast<int>(std::clamp(copies, double{fewest_copy_rounds}, double{copy_rounds}));
  return {.rounds = rounds,
          .iterations = std::max<std::int64_t>(1, static_cast<std::int64_t>(copies / rounds))};
}

/// Seconds of a copy as the plan needs them. One copy of a small size is lost in what a sample
/// costs besides (reading clocks, waking threads), so it takes more of them until that is small;
/// and the shorter of two samples, since a plan made from a disturbed one would copy far too
/// little.
template <typename Timed>
double estimate_copy_seconds(Timed& timed, double row_seconds) {
  const double enough = std::min(1e-3, row_seconds / copy_rounds);
  constexpr std::int64_t most = std::int64_t{1} << 24;
  for (std::int64_t copies = 1;; copies *= 8) {
    double seconds = timed.sample(copies).seconds;
    if (seconds >= enough) {
      seconds = std::min(seconds, timed.sample(copies).seconds);
    }
    if (seconds >= enough || copies >= most) {
      return seconds / static_cast<double>(copies);
    }
  }
}

/// Plans each contender's samples and takes them. One that throws fails and says why in its row.
/// Ends early when `stop()` says so. No limit in time: every one gets its few samples.
template <typename Clock, typename Contender, typename Stop>
void sample_copies(std::span<Contender> contenders, double row_seconds, Stop stop) {
  for (Contender& contender : contenders) {
    if (stop()) {
      return;
    }
    try {
      contender.plan =
          plan_copies(estimate_copy_seconds(*contender.timed, row_seconds), row_seconds);
    } catch (const std::exception& error) {
      contender.give_up(Status::failed, error.what());
    }
  }
  run_rounds<Clock>(contenders, std::numeric_limits<double>::infinity(), stop, [](int, int) {});
}

} // namespace diffbench::bench
