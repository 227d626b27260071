// SPDX-License-Identifier: Apache-2.0
// An allocator for the temporaries of whole-array expressions.
#pragma once

#include "diffbench/field.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace diffbench {

/// Keeps what a thread frees for its next request of that size, as long as one of its Leases lives.
/// From the C library's heap an array comes out of memory in use or out of fresh pages by
/// its size and by what else is alive, and a step that allocates takes several times as long, or
/// not.
template <typename T>
class KeptMemory {
 public:
  using value_type = T;

  KeptMemory() = default;
  template <typename U>
  explicit KeptMemory(const KeptMemory<U>& /*other*/) {}

  /// On array_alignment, and not touched. Throws Error when it cannot be had.
  [[nodiscard]] T* allocate(std::size_t count) {
    std::vector<Block>& all = kept().blocks;
    const auto fitting = std::ranges::find_if(
        all, [count](const Block& block) { return block.get_deleter().count == count; });
    if (fitting == all.end()) {
      const std::size_t bytes = count * sizeof(T);
      const Stagger stagger = bytes < detail::huge_from ? Stagger{} : stagger_of(kept().made++);
      return reinterpret_cast<T*>(
          static_cast<std::byte*>(detail::allocate_aligned(bytes + stagger.bytes, false)) +
          stagger.bytes);
    }
    std::swap(*fitting, all.back());
    T* memory = all.back().release();
    all.pop_back();
    return memory;
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    Block block(memory, Free{count});
    if (kept().leases > 0) {
      try {
        kept().blocks.push_back(std::move(block));
      } catch (const std::bad_alloc&) { // then it is not kept
      }
    }
  }

  /// To be declared before what allocates. The last one of a thread frees what it keeps.
  class Lease {
   public:
    Lease() { ++kept().leases; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      if (--kept().leases == 0) {
        kept().blocks.clear();
        kept().made = 0;
      }
    }
  };

  bool operator==(const KeptMemory& /*other*/) const { return true; }

 private:
  struct Free {
    std::size_t count;
    void operator()(T* memory) const noexcept {
      const std::size_t bytes = count * sizeof(T);
      // What is large begins a page of its own, and its stagger is less than a small page.
      const std::size_t stagger =
          bytes < detail::huge_from
              ? 0
              : reinterpret_cast<std::uintptr_t>(memory) % detail::alias_period;
      detail::free_aligned(reinterpret_cast<std::byte*>(memory) - stagger, bytes + stagger);
    }
  };
  using Block = std::unique_ptr<T[], Free>;

  struct Kept {
    int leases = 0;
    std::size_t made = 0; ///< large ones since the first lease: sessions made anew are alike
    std::vector<Block> blocks;
  };
  static Kept& kept() {
    thread_local Kept of_this_thread;
    return of_this_thread;
  }
};

} // namespace diffbench
