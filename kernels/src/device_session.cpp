// SPDX-License-Identifier: Apache-2.0
#include "device_session.hpp"

#include <array>
#include <cstdio>

namespace diffbench::kernels {

namespace {

std::string megabytes(std::int64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f MB", 1e-6 * static_cast<double>(bytes));
  return text.data();
}

} // namespace

MemoryNeed device_memory_need(const Problem& problem, const SessionOptions& options,
                              const FieldLayout& layout, std::int64_t extra_device) {
  const std::int64_t buffers = 2 * layout.size * problem.element_bytes();
  MemoryNeed need{.host = 0, .device = extra_device};
  (options.transfer == Transfer::mapped ? need.host : need.device) += buffers;
  if (needs_arena(options.transfer)) {
    need.host += problem.field_bytes();
  }
  if (options.async) {
    need.device += 2 * problem.field_bytes(); // snapshots
  }
  return need;
}

void require_device_memory(const MemoryNeed& need, const gpu::Device& device) {
  const std::int64_t free = gpu::free_memory();
  if (need.device > free) {
    throw Error("the run needs " + megabytes(need.device) + " on " + device.name + ", where " +
                megabytes(free) + " of " + megabytes(device.memory_bytes) +
                " are free; choose a smaller grid");
  }
}

template class DeviceSession<float>;
template class DeviceSession<double>;

} // namespace diffbench::kernels
