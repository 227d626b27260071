// SPDX-License-Identifier: Apache-2.0
// A field in host memory: nx by ny cells, row-major, dense, aligned to a cache line.
#pragma once

#include "diffbench/aligned_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace diffbench {

/// A field of nx by ny cells, zero at first. Move-only: copies of large fields are written out.
template <typename T>
class Field {
 public:
  Field() = default;
  Field(std::int64_t nx, std::int64_t ny, Stagger stagger = {})
      : nx_(nx), ny_(ny), memory_(nx * ny, stagger) {}
  Field(std::int64_t nx, std::int64_t ny, Uninitialised tag)
      : nx_(nx), ny_(ny), memory_(nx * ny, tag) {}

  [[nodiscard]] std::int64_t nx() const { return nx_; }
  [[nodiscard]] std::int64_t ny() const { return ny_; }
  [[nodiscard]] T* row(std::int64_t y) { return memory_.data() + y * nx_; }
  [[nodiscard]] const T* row(std::int64_t y) const { return memory_.data() + y * nx_; }
  [[nodiscard]] std::span<T> cells() {
    return {memory_.data(), static_cast<std::size_t>(memory_.size())};
  }
  [[nodiscard]] std::span<const T> cells() const {
    return {memory_.data(), static_cast<std::size_t>(memory_.size())};
  }

 private:
  std::int64_t nx_ = 0;
  std::int64_t ny_ = 0;
  AlignedArray<T> memory_;
};

} // namespace diffbench
