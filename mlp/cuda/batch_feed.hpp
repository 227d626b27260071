// SPDX-License-Identifier: Apache-2.0
// Batches on their way from the host to the device, through two places on the device that take
// turns, so that with SessionOptions::async one is filled while the other is computed on.
#pragma once

#include "batch.hpp"
#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"
#include "diffbench/mlp/engine.hpp"
#include "step_clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace diffbench::mlp::cuda {

template <typename T>
class BatchFeed {
 public:
  static constexpr std::size_t places = 2;

  /// Throws Unavailable for a way of copying other than pageable and pinned.
  BatchFeed(const gpu::Stream& compute, const Training& training, const SessionOptions& options);

  /// The batch of a place, as kernels see it.
  [[nodiscard]] Batch<T> batch(std::size_t place) const;

  /// Brings rows to the next place, and lets what is issued on the compute stream from now on wait
  /// for them. Returns the place. The spans may be reused when it returns: from pageable memory the
  /// host waits for the copy, to pinned memory it copies them itself.
  std::size_t send(std::span<const T> features, std::span<const std::int32_t> labels,
                   StepClock& clock);
  /// What is issued on the compute stream so far is the last that reads that place.
  void release(std::size_t place);

 private:
  // Number of rows, labels and features in one piece, the same on both sides: one copy.
  struct Place {
    gpu::DeviceArray<std::uint8_t> device;
    gpu::PinnedArray<std::uint8_t> staging; ///< empty when pageable
    gpu::Event arrived{gpu::Event::Timing::off};
    gpu::Event released{gpu::Event::Timing::off};
  };

  void stage(Place& place, std::span<const T> features, std::span<const std::int32_t> labels);
  void copy_pageable(Place& place, std::span<const T> features,
                     std::span<const std::int32_t> labels);
  [[nodiscard]] const gpu::Stream& stream() const { return async_ ? copies_ : *compute_; }
  [[nodiscard]] std::int64_t features_at() const;

  const gpu::Stream* compute_;
  std::int64_t inputs_;
  std::int64_t capacity_;
  bool pinned_;
  bool async_;
  std::array<Place, places> places_;
  std::size_t next_ = 0;
  std::int32_t rows_ = 0; ///< of the batch that is being sent from pageable memory
  gpu::Stream copies_;
};

} // namespace diffbench::mlp::cuda
