// Page-locked host memory of a session, made once, through which its copies go.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/field.hpp"
#include "diffbench/gpu/memory.hpp"

#include <unistd.h>

#include <cstdint>
#include <memory>
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
      case Transfer::registered: registered_ = LockedPages(size); break;
      case Transfer::pageable:
      case Transfer::mapped:
      case Transfer::managed: break;
    }
  }

  [[nodiscard]] std::span<T> cells() {
    if (pinned_.size() > 0) {
      return pinned_.cells();
    }
    return registered_.cells;
  }

 private:
  // Ordinary memory of whole pages: pages are what is locked, and one that is cannot be locked
  // again for its neighbour's sake.
  struct LockedPages {
    LockedPages() = default;
    explicit LockedPages(std::int64_t size) {
      const std::int64_t page = ::sysconf(_SC_PAGESIZE) / static_cast<std::int64_t>(sizeof(T));
      const std::int64_t whole = (size + page - 1) / page * page;
      // Zeroed: only pages that exist can be locked, and making them is part of the price.
      memory = AlignedArray<T>(whole + page);
      void* begin = memory.data();
      auto space = static_cast<std::size_t>(memory.size()) * sizeof(T);
      const std::size_t bytes = static_cast<std::size_t>(whole) * sizeof(T);
      std::align(static_cast<std::size_t>(page) * sizeof(T), bytes, begin, space);
      lock = gpu::RegisteredRange(begin, bytes);
      cells = {static_cast<T*>(begin), static_cast<std::size_t>(size)};
    }

    AlignedArray<T> memory;
    gpu::RegisteredRange lock; // let go before the memory is freed
    std::span<T> cells;
  };

  gpu::PinnedArray<T> pinned_;
  LockedPages registered_;
};

} // namespace diffbench::kernels
