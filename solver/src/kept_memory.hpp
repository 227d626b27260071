// An allocator for the temporaries of whole-array expressions.
#pragma once

#include "diffbench/field.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace diffbench {

/// Keeps what is freed for the next request of that size by the same thread, as long as a Lease
/// lives. From the C library's heap an array comes out of memory in use or out of fresh pages by
/// its size and by what else is alive, and a step that allocates takes several times as long, or
/// not.
template <typename T>
class KeptMemory {
 public:
  using value_type = T;

  KeptMemory() = default;
  template <typename U>
  explicit KeptMemory(const KeptMemory<U>& /*other*/) {}

  /// On field_alignment, and not touched. Throws Error when it cannot be had.
  [[nodiscard]] T* allocate(std::size_t count) {
    std::vector<Block>& all = kept();
    const auto fitting = std::ranges::find_if(
        all, [count](const Block& block) { return block.get_deleter().count == count; });
    if (fitting == all.end()) {
      return static_cast<T*>(detail::allocate_aligned(count * sizeof(T), false));
    }
    std::swap(*fitting, all.back());
    T* memory = all.back().release();
    all.pop_back();
    return memory;
  }
  void deallocate(T* memory, std::size_t count) { kept().emplace_back(memory, Free{count}); }

  /// To be declared before what allocates: frees at its end what this thread keeps.
  class Lease {
   public:
    Lease() = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { kept().clear(); }
  };

  bool operator==(const KeptMemory& /*other*/) const { return true; }

 private:
  struct Free {
    std::size_t count;
    void operator()(T* memory) const noexcept { detail::free_aligned(memory, count * sizeof(T)); }
  };
  using Block = std::unique_ptr<T[], Free>;

  static std::vector<Block>& kept() {
    thread_local std::vector<Block> blocks;
    return blocks;
  }
};

} // namespace diffbench
