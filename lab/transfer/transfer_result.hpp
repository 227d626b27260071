// SPDX-License-Identifier: Apache-2.0
// What `diffbench transfer` found: copies within the host's memory, and between it and a device.
// Plain data, also what a recorded file is read back into; every table is made from it alone.
#pragma once

#include "diffbench/machine.hpp"
#include "linear_cost.hpp"
#include "pcie_link.hpp"
#include "result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Copies of one size: a Sample's iterations are copies.
struct CopyPoint {
  std::int64_t bytes = 0; ///< that arrive in one copy (in each direction)
  bool verified = false;
  std::vector<Sample> samples; ///< none where times mean nothing
};

/// One way to copy, over sizes in ascending order.
struct CopyCurve {
  std::string way;       ///< "memcpy", "loop", "streaming"; of a device the transfer mode
  std::string direction; ///< "host", "h2d", "d2h" or "both" (at once)
  int threads = 1;       ///< that copied
  std::vector<CopyPoint> points = {};
  std::string failure = {}; ///< why it ends early, or is not there at all
};

/// Median seconds of a copy; empty without samples.
[[nodiscard]] std::optional<double> seconds_per_copy(const CopyPoint& point);
/// The point of that size; nullptr where there is none, or none with samples.
[[nodiscard]] const CopyPoint* timed_point(const CopyCurve& curve, std::int64_t bytes);
/// nullptr without such a curve.
[[nodiscard]] const CopyCurve* find_curve(const std::vector<CopyCurve>& curves,
                                          std::string_view way, std::string_view direction,
                                          int threads = 1);

/// memcpy and others between two arrays of the size.
struct HostCopies {
  Caches caches;
  int threads = 1; ///< of the curves on all of them
  std::vector<CopyCurve> curves;
};

/// What it takes to have page-locked memory, in seconds.
struct PinningPoint {
  std::int64_t bytes = 0;
  double allocate = 0; ///< and to free: page-locked when allocated
  double free = 0;
  double lock = 0; ///< and to unlock: memory that is there already
  double unlock = 0;
};

struct DeviceCopies {
  std::string name;
  bool emulated = false; ///< copies are verified, and nothing has a time
  int copy_engines = 0;
  PcieLink link;
  std::vector<CopyCurve> curves;
  std::vector<PinningPoint> pinning;
  bool ended_by_budget = false; ///< before the largest copies
};

struct TransferResult {
  HostCopies host;
  std::optional<DeviceCopies> device;
  std::string no_device; ///< the reason
};

/// Of the host, then of the device.
[[nodiscard]] std::vector<const CopyCurve*> all_curves(const TransferResult& result);
/// Whether all copies, of the host and of the device, brought the bytes that they were given.
[[nodiscard]] bool all_verified(const TransferResult& result);

// What follows from the samples.

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
