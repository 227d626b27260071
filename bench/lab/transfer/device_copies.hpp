// Copies between host and device. The build decides which of two files implements it: one on the
// CUDA runtime (gpu/), and one that says that there is none (without_gpu/).
#pragma once

#include "diffbench/backend.hpp"
#include "progress.hpp"
#include "transfer_result.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace diffbench::bench {

/// Whether copies to and from that device can be made; never throws.
[[nodiscard]] Probe probe_device_copies(int device) noexcept;

/// Measures every transfer mode in every direction at each of `sizes` (bytes, ascending) by the
/// device's clock, what page-locking costs, and the link. What arrived is compared, byte for byte,
/// before it is timed. Takes about `seconds`, more where few copies of the large sizes take longer;
/// on an emulated device only compares. Sizes for which memory is missing are left out. Ends early,
/// with what it has, when `stop()` says so. Throws Error (no usable device, no memory).
[[nodiscard]] DeviceCopies measure_device_copies(const std::vector<std::int64_t>& sizes, int device,
                                                 double seconds, const std::function<bool()>& stop,
                                                 Progress& progress);

} // namespace diffbench::bench
