// SPDX-License-Identifier: Apache-2.0
// Copies of one size in one transfer mode and direction, on the CUDA runtime.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/field.hpp"
#include "diffbench/gpu/host_array.hpp"
#include "diffbench/gpu/memory.hpp"
#include "direction.hpp"
#include "result.hpp"

#include <cstddef>
#include <cstdint>

namespace diffbench::bench {

/// One memory for each direction: both can be under way at once.
struct HostMemories {
  HostMemories(Transfer transfer, std::int64_t size)
      : mode(transfer), bytes(size), up(transfer, size), down(transfer, size) {}
  Transfer mode;
  std::int64_t bytes;
  gpu::HostArray<std::byte> up;
  gpu::HostArray<std::byte> down;
};

/// What all lanes use, one at a time: the device's side, as large as the largest size, streams and
/// events, what is sent, and room to see what arrived.
struct DeviceSide {
  DeviceSide(int index, std::int64_t bytes);

  int device;
  AlignedArray<std::byte> sent;
  AlignedArray<std::byte> arrived;
  gpu::DeviceArray<std::byte> up;
  gpu::DeviceArray<std::byte> down;
  gpu::Stream up_stream;
  gpu::Stream down_stream;
  gpu::Event start;
  gpu::Event down_end{gpu::Event::Timing::off};
  gpu::Event end;
};

/// Functions throw CudaError and have waited for all work when they return.
class DeviceLane {
 public:
  DeviceLane(HostMemories& host, Direction direction, DeviceSide& side)
      : host_(host), direction_(direction), side_(side) {}

  /// Whether the bytes arrive. What was sent is seen again through copies of ordinary memory, since
  /// the CPU reads write-combined memory at some 100 MB/s.
  [[nodiscard]] bool verify();

  /// By the device's clock; mapped memory by a kernel, the others by the copy engines. Copies are
  /// issued one after the other without waiting, so a short one costs what it adds to a queue of
  /// its kind; one more before them is not timed. Managed pages can move only once, so there each
  /// move is timed alone, and moving them back is not.
  [[nodiscard]] Sample sample(std::int64_t copies);

 private:
  [[nodiscard]] bool goes_up() const { return direction_ != Direction::d2h; }
  [[nodiscard]] bool goes_down() const { return direction_ != Direction::h2d; }
  [[nodiscard]] bool managed() const { return host_.mode == Transfer::managed; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(host_.bytes); }

  void issue();         ///< one copy in each direction
  void place_managed(); ///< pages where their copy starts
  void wait();
  [[nodiscard]] double timed(std::int64_t copies);
  [[nodiscard]] bool arrived_is_sent();

  HostMemories& host_;
  Direction direction_;
  DeviceSide& side_;
};

} // namespace diffbench::bench
