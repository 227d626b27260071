// The reference of a comparison: what the oracle's field is after a number of steps, as a digest.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/verify.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "result.hpp"
#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace diffbench::bench {

/// Computes digests in a field that the caller lends; only the digests are kept, so that no
/// reference field has to be held beside the sessions.
template <typename T>
class Reference {
 public:
  /// `scratch` has the problem's size and holds anything after each call.
  Reference(const Problem& problem, const InitialField& initial, Field<T>& scratch)
      : problem_(problem), initial_(initial), scratch_(scratch) {}

  /// Advances by `steps`, or by as many as `limit_seconds` afford. `on_progress(fraction)` is
  /// called several times a second. Throws Interrupted.
  template <typename OnProgress>
  const FieldFacts& compute(std::int64_t steps, double limit_seconds, OnProgress on_progress) {
    using Clock = std::chrono::steady_clock;
    fill_initial(problem_, initial_, scratch_);
    const auto start = Clock::now();
    std::int64_t done = 0;
    std::int64_t slice = 1;
    while (done < steps && (done == 0 || seconds_since<Clock>(start) < limit_seconds)) {
      if (interrupted()) {
        throw Interrupted();
      }
      const auto slice_start = Clock::now();
      const std::int64_t count = std::min(slice, steps - done);
      advance_reference(problem_, scratch_, count);
      done += count;
      if (seconds_since<Clock>(slice_start) < 0.05) {
        slice *= 2;
      }
      on_progress(static_cast<double>(done) / static_cast<double>(steps));
    }
    return digests_[done] = {.steps = done,
                             .sha256 = sha256_of_cells(std::as_const(scratch_).cells()),
                             .summary = summarize(std::as_const(scratch_).cells())};
  }

  /// The facts after `steps`, computed when they are not known yet.
  const FieldFacts& at(std::int64_t steps) {
    const auto known = digests_.find(steps);
    if (known != digests_.end()) {
      return known->second;
    }
    return compute(steps, std::numeric_limits<double>::infinity(), [](double) {});
  }

 private:
  Problem problem_;
  InitialField initial_;
  Field<T>& scratch_;
  std::map<std::int64_t, FieldFacts> digests_;
};

} // namespace diffbench::bench
