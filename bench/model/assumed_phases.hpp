// SPDX-License-Identifier: Apache-2.0
// The ledger of a run on an assumed card: the phases that a measured one has, each between the ends
// of what is assumed. Arithmetic only.
#pragma once

#include "assumed_end.hpp"
#include "cost_model.hpp"
#include "diffbench/execution.hpp"

#include <string_view>

namespace diffbench::bench {

/// Seconds, at one end. Kernels that are shorter than their launches are hidden by them: then
/// compute is 0.
struct AssumedPhases {
  double context = 0, pin = 0, h2d = 0, launch = 0, compute = 0, sync = 0, d2h = 0;

  [[nodiscard]] double warm() const { return h2d + launch + compute + sync + d2h; }
  [[nodiscard]] double cold() const { return context + pin + warm(); }
};

/// What is run, and how.
struct AssumedRun {
  std::string_view backend = "cuda_stream"; ///< one of assumed_ways()
  Transfer transfer = Transfer::pinned;     ///< pageable, or any that is page-locked
  bool wait_each_step = false;              ///< else once, after the last one
};

/// `run` without snapshots and copies on the way. Throws std::logic_error for another backend.
[[nodiscard]] AssumedPhases assumed_phases(const AssumedEnd& end, const AssumedRun& how,
                                           const RunShape& run);

/// A copy between the host and the card.
enum class CopyTo { card, host };
/// Seconds of one of so many bytes from or to ordinary memory, or page-locked one.
[[nodiscard]] double copy_seconds(const AssumedEnd& end, double bytes, CopyTo to, bool locked);
/// Seconds of page-locking so many bytes once.
[[nodiscard]] double pin_seconds(const AssumedEnd& end, double bytes);

} // namespace diffbench::bench
