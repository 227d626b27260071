// SPDX-License-Identifier: Apache-2.0
// What follows from the samples of `diffbench transfer`.
#pragma once

#include "linear_cost.hpp"
#include "transfer_result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace diffbench::bench {

/// Bytes a second that arrive (in each direction), by the median.
[[nodiscard]] double rate_of(const CopyPoint& point);
/// The highest of a curve; empty without samples.
[[nodiscard]] std::optional<double> best_rate(const CopyCurve& curve);

/// The model of all sizes of a curve.
[[nodiscard]] std::optional<LinearCost> fit_curve(const CopyCurve& curve);

/// Seconds that a copy of `bytes` to the device takes less from memory of `mode` than from pageable
/// memory; negative where it takes more, empty where not both were measured.
[[nodiscard]] std::optional<double> saved_by_locking(const DeviceCopies& device,
                                                     std::string_view mode, std::int64_t bytes);

/// Where both arrays of a copy of `bytes` fit, shared among `threads`: "L1", "L2", "L3", "memory".
[[nodiscard]] std::string_view held_in(std::int64_t bytes, int threads, const Caches& caches);

/// How near memcpy comes to the loop.
struct Agreement {
  int sizes = 0;
  int within = 0; ///< of them, by agreement_bar
  std::int64_t furthest_bytes = 0;
  double furthest_ratio = 1; ///< memcpy's rate over the loop's
};
inline constexpr double agreement_bar = 0.10;
/// By the rates that are shown, the medians; empty where not both were measured.
[[nodiscard]] std::optional<Agreement> memcpy_against_loop(const HostCopies& host);

} // namespace diffbench::bench
