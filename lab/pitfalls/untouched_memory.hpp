// SPDX-License-Identifier: Apache-2.0
// Memory as it comes from the system: pages that exist only once they are touched. The heap would
// sometimes hand out used ones.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace diffbench::bench {

/// Anonymous pages: `bytes` > 0. Throws Error when they cannot be had.
[[nodiscard]] void* map_pages(std::size_t bytes);
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// `size` > 0 elements that read as zero.
template <typename T>
class UntouchedMemory {
 public:
  explicit UntouchedMemory(std::size_t size)
      : size_(size), data_(static_cast<T*>(map_pages(size * sizeof(T)))) {}
  UntouchedMemory(UntouchedMemory&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  UntouchedMemory& operator=(UntouchedMemory&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~UntouchedMemory() {
    if (data_ != nullptr) {
      unmap_pages(data_, size_ * sizeof(T));
    }
  }

  [[nodiscard]] std::span<T> elements() { return {data_, size_}; }

 private:
  std::size_t size_;
  T* data_;
};

} // namespace diffbench::bench
