// SPDX-License-Identifier: Apache-2.0
// The rows to train on, on the device, and the order in which a run takes them.
#pragma once

#include "batch.hpp"
#include "device_memory.hpp"
#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"
#include "step_clock.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace diffbench::mlp::cuda {

template <typename T>
class DeviceRows {
 public:
  /// Blocks. Nothing that uses the rows before may be under way.
  void set(const gpu::Stream& stream, std::span<const T> features,
           std::span<const std::int32_t> labels) {
    features_ = allocate<T>(static_cast<std::int64_t>(features.size()));
    labels_ = allocate<std::int32_t>(static_cast<std::int64_t>(labels.size()));
    gpu::copy_to_device(stream, features_.data(), features.data(), features.size_bytes());
    gpu::copy_to_device(stream, labels_.data(), labels.data(), labels.size_bytes());
    stream.synchronize();
    make_room(static_cast<std::int64_t>(labels.size()));
  }

  /// `order` may be reused when it returns. Returns whether what on_device() gives has changed:
  /// for an order longer than any before, it waits and makes room.
  bool send_order(const gpu::Stream& stream, std::span<const std::int32_t> order,
                  StepClock& clock) {
    const auto count = static_cast<std::int64_t>(order.size());
    const bool longer = count > order_.size();
    if (longer) {
      stream.synchronize();
      make_room(count);
    }
    clock.on_host(&StepTimes::h2d, [&] {
      sent_.wait();
      std::ranges::copy(order, staging_.data());
      clock.on_device(stream, &StepTimes::h2d, [&] {
        gpu::copy_to_device(stream, order_.data(), staging_.data(), order.size_bytes());
      });
      stream.record(sent_);
    });
    return longer;
  }

  [[nodiscard]] ResidentRows<T> on_device() const {
    return {.features = features_.data(), .labels = labels_.data(), .order = order_.data()};
  }

 private:
  void make_room(std::int64_t count) {
    order_ = allocate<std::int32_t>(count);
    staging_ = gpu::PinnedArray<std::int32_t>(count);
  }

  gpu::DeviceArray<T> features_;
  gpu::DeviceArray<std::int32_t> labels_, order_;
  gpu::PinnedArray<std::int32_t> staging_;
  gpu::Event sent_{gpu::Event::Timing::off};
};

} // namespace diffbench::mlp::cuda
