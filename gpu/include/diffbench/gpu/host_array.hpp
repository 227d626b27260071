// SPDX-License-Identifier: Apache-2.0
// Host memory in each of the ways in which a program can hold what goes to a device and back.
#pragma once

#include "diffbench/execution.hpp"
#include "diffbench/gpu/memory.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace diffbench::gpu {

/// Of one kind, as a transfer mode says. Ordinary and registered memory is zeroed, the other kinds
/// are uninitialised.
template <typename T>
class HostArray {
 public:
  HostArray() = default;
  /// Throws CudaError or Error.
  HostArray(Transfer transfer, std::int64_t size) {
    const auto use = [&](auto& kind, auto made) {
      kind = std::move(made);
      cells_ = {kind.data(), static_cast<std::size_t>(size)};
    };
    switch (transfer) {
      case Transfer::pageable: use(ordinary_, AlignedArray<T>(size)); break;
      case Transfer::pinned: use(pinned_, PinnedArray<T>(size)); break;
      case Transfer::registered: use(registered_, RegisteredArray<T>(size)); break;
      case Transfer::write_combined:
        use(pinned_, PinnedArray<T>(size, cudaHostAllocWriteCombined));
        break;
      case Transfer::mapped:
        use(pinned_, PinnedArray<T>(size, cudaHostAllocMapped));
        on_device_ = pinned_.device_data();
        break;
      case Transfer::managed:
        use(managed_, ManagedArray<T>(size));
        on_device_ = managed_.data();
        break;
    }
  }

  [[nodiscard]] std::span<T> cells() const { return cells_; }
  [[nodiscard]] T* data() const { return cells_.data(); }
  /// Where kernels find it; nullptr for memory that is the host's alone.
  [[nodiscard]] T* device_data() const { return on_device_; }

 private:
  AlignedArray<T> ordinary_; // one of the four
  PinnedArray<T> pinned_;
  RegisteredArray<T> registered_;
  ManagedArray<T> managed_;
  std::span<T> cells_;
  T* on_device_ = nullptr;
};

} // namespace diffbench::gpu
