// Page-locked host memory of a session, made once, through which its copies go.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/gpu/memory.hpp"

#include <cstdint>
#include <span>

namespace diffbench::kernels {

/// Whether copies go through an arena, rather than from and to the caller's memory as it is.
[[nodiscard]] inline bool needs_arena(Transfer transfer) {
  return transfer == Transfer::pinned || transfer == Transfer::registered ||
         transfer == Transfer::write_combined;
}

template <typename T>
class HostArena {
 public:
  /// Empty unless the transfer mode needs it. Throws gpu::CudaError or Error.
  HostArena(std::int64_t size, Transfer transfer) {
    switch (transfer) {
      case Transfer::pinned: pinned_ = gpu::PinnedArray<T>(size); break;
      case Transfer::write_combined:
        pinned_ = gpu::PinnedArray<T>(size, cudaHostAllocWriteCombined);
        break;
      case Transfer::registered: registered_ = gpu::RegisteredArray<T>(size); break;
      case Transfer::pageable:
      case Transfer::mapped:
      case Transfer::managed: break;
    }
  }

  [[nodiscard]] std::span<T> cells() {
    if (pinned_.size() > 0) {
      return pinned_.cells();
    }
    return registered_.cells();
  }

 private:
  gpu::PinnedArray<T> pinned_;
  gpu::RegisteredArray<T> registered_;
};

} // namespace diffbench::kernels
