// SPDX-License-Identifier: Apache-2.0
// The field on the device: two buffers, one for the present state and one for the next step, in
// memory of the kind that the transfer mode says.
#pragma once

#include "field_layout.hpp"

#include "diffbench/backend.hpp"
#include "diffbench/gpu/host_array.hpp"
#include "diffbench/gpu/memory.hpp"

#include <array>
#include <cstdint>

namespace diffbench::kernels {

template <typename T>
class DeviceField {
 public:
  /// Uninitialised. Throws gpu::CudaError.
  DeviceField(const FieldLayout& layout, Transfer transfer) : layout_(layout) {
    for (Buffer& buffer : buffers_) {
      buffer = Buffer(layout, transfer);
    }
  }

  /// Fills memory of the device with NaN, in stream order. Does not block. The calibration computes
  /// before there is a field, and wide accesses read padding that is never uploaded: uses of no
  /// consequence, which compute-sanitizer's initcheck could not tell from others. A cell that does
  /// matter and was never written still shows: as a NaN in the result.
  void fill_with_nan(const gpu::Stream& stream) const {
    for (const Buffer& buffer : buffers_) {
      if (buffer.memory.size() > 0) {
        gpu::fill_bytes(stream, buffer.device, 0xff,
                        static_cast<std::size_t>(buffer.memory.size()) * sizeof(T));
      }
    }
  }

  [[nodiscard]] const FieldLayout& layout() const { return layout_; }
  /// Cell (0, 0) for kernels.
  [[nodiscard]] T* now() const { return buffers_[now_].device + layout_.first; }
  [[nodiscard]] T* next() const { return buffers_[1 - now_].device + layout_.first; }
  void swap() { now_ = 1 - now_; }
  /// 0 or 1: which of the two buffers holds the present state.
  [[nodiscard]] std::size_t order() const { return now_; }

  /// Cell (0, 0) of the present state for the host, and the start of its buffer. Null for memory of
  /// the device; for the other kinds the caller must have waited for the device.
  [[nodiscard]] T* now_on_host() const {
    return buffers_[now_].host == nullptr ? nullptr : buffers_[now_].host + layout_.first;
  }
  [[nodiscard]] const T* now_buffer() const { return buffers_[now_].device; }
  [[nodiscard]] const T* next_buffer() const { return buffers_[1 - now_].device; }

 private:
  struct Buffer {
    Buffer() = default;
    Buffer(const FieldLayout& layout, Transfer transfer) {
      if (transfer == Transfer::mapped || transfer == Transfer::managed) {
        shared = gpu::HostArray<T>(transfer, layout.size);
        host = shared.data();
        device = shared.device_data();
      } else {
        memory = gpu::DeviceArray<T>(layout.size);
        device = memory.data();
      }
    }

    gpu::DeviceArray<T> memory; // one of the two
    gpu::HostArray<T> shared;
    T* device = nullptr;
    T* host = nullptr;
  };

  FieldLayout layout_;
  std::array<Buffer, 2> buffers_;
  std::size_t now_ = 0;
};

} // namespace diffbench::kernels
