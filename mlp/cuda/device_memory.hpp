// SPDX-License-Identifier: Apache-2.0
// Memory of a device for an engine: what does not fit is refused with the figures.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace diffbench::mlp::cuda {

/// Uninitialised. Throws Error when so much is not free.
template <typename T>
[[nodiscard]] gpu::DeviceArray<T> allocate(std::int64_t size) {
  if (size == 0) {
    return {};
  }
  const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(T));
  if (const std::int64_t free = gpu::free_memory(); bytes > free) {
    throw Error("the network, its batch and its data need another " +
                std::to_string(bytes / 1'000'000) + " MB on the device, where " +
                std::to_string(free / 1'000'000) + " MB are free; choose a smaller batch");
  }
  return gpu::DeviceArray<T>(size);
}

/// All bytes 0, in stream order.
template <typename T>
[[nodiscard]] gpu::DeviceArray<T> zeros(const gpu::Stream& stream, std::int64_t size) {
  gpu::DeviceArray<T> array = allocate<T>(size);
  if (size != 0) {
    gpu::fill_bytes(stream, array.data(), 0, static_cast<std::size_t>(size) * sizeof(T));
  }
  return array;
}

} // namespace diffbench::mlp::cuda
