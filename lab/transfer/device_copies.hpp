// SPDX-License-Identifier: Apache-2.0
// Copies between host and device. The build decides which of two files implements it: one on the
// CUDA runtime (gpu/), and one that says that there is none (without_gpu/).
#pragma once

#include "copy_rounds.hpp"
#include "direction.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "transfer_result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace diffbench::bench {

/// Whether copies to and from that device can be made; never throws.
[[nodiscard]] Probe probe_device_copies(int device) noexcept;

/// Measures every transfer mode in every direction at each of `sizes` (bytes, ascending) by the
/// device's clock, what page-locking costs, and the link. What arrived is compared, byte for byte,
/// before it is timed. Sizes for which there is no `time` are left out;
/// on an emulated device only compares. Sizes for which memory is missing are left out. Ends early,
/// with what it has, when `stop()` says so. Throws Error (no usable device, no memory).
[[nodiscard]] DeviceCopies measure_device_copies(const std::vector<std::int64_t>& sizes, int device,
                                                 CopyTime time, const std::function<bool()>& stop,
                                                 Progress& progress);

/// One way to copy, with memory of its own on both sides. Functions return when all is done, and
/// throw CudaError.
class DeviceCopy {
 public:
  DeviceCopy() = default;
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;
  virtual ~DeviceCopy() = default;

  /// Whether the bytes arrive.
  [[nodiscard]] virtual bool verify() = 0;
  /// By the device's clock.
  [[nodiscard]] virtual Sample sample(std::int64_t copies) = 0;
};

/// `bytes` are a multiple of 16; it takes four times as many of the host and twice of the device,
/// managed memory up to four times. Throws Unavailable (no such device, too little memory on it),
/// CudaError, Error.
[[nodiscard]] std::unique_ptr<DeviceCopy> make_device_copy(Transfer mode, Direction direction,
                                                           std::int64_t bytes, int device);

} // namespace diffbench::bench
