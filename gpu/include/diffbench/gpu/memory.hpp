// SPDX-License-Identifier: Apache-2.0
// Memory of the device, page-locked memory of the host, and copies between them.
#pragma once

#include "diffbench/aligned_memory.hpp"
#include "diffbench/gpu/stream.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace diffbench::gpu {

namespace detail {
void free_device(void* memory) noexcept;
void free_host(void* memory) noexcept;
void unregister_host(void* memory) noexcept;
[[nodiscard]] void* allocate_device(std::size_t bytes);
[[nodiscard]] void* allocate_managed(std::size_t bytes);
[[nodiscard]] void* allocate_pinned(std::size_t bytes, unsigned flags);
[[nodiscard]] void* address_on_device(void* mapped);

/// For `size` elements, uninitialised.
template <typename T, auto allocate>
class OwnedArray {
 public:
  OwnedArray() = default;
  explicit OwnedArray(std::int64_t size)
      : size_(size), memory_(allocate(static_cast<std::size_t>(size) * sizeof(T))) {}

  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  std::int64_t size_ = 0;
  Owner<void*, free_device> memory_;
};
} // namespace detail

/// Device memory for `size` elements, uninitialised. Throws CudaError.
template <typename T>
using DeviceArray = detail::OwnedArray<T, detail::allocate_device>;

/// Memory with one address on host and device, for `size` elements, uninitialised; its pages go
/// where they are used, or are prefetched to. Throws CudaError.
template <typename T>
using ManagedArray = detail::OwnedArray<T, detail::allocate_managed>;

/// Page-locked host memory, uninitialised. Making it is slow (1 to 3 GB/s): keep it. Throws
/// CudaError.
template <typename T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::int64_t size, unsigned flags = cudaHostAllocDefault)
      : size_(size),
        memory_(detail::allocate_pinned(static_cast<std::size_t>(size) * sizeof(T), flags)) {}

  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::span<T> cells() const { return {data(), static_cast<std::size_t>(size_)}; }
  /// Where kernels find it; for memory allocated with cudaHostAllocMapped.
  [[nodiscard]] T* device_data() const {
    return static_cast<T*>(detail::address_on_device(memory_.get()));
  }

 private:
  std::int64_t size_ = 0;
  Owner<void*, detail::free_host> memory_;
};

/// Page-locks a range of ordinary host memory as long as it lives. Throws CudaError.
class RegisteredRange {
 public:
  RegisteredRange() = default;
  RegisteredRange(void* begin, std::size_t bytes);

 private:
  Owner<void*, detail::unregister_host> begin_;
};

/// Ordinary host memory, zeroed and page-locked afterwards. Of whole pages: pages are what is
/// locked, and one that is cannot be locked again for its neighbour's sake. Throws CudaError or
/// Error.
template <typename T>
class RegisteredArray {
 public:
  RegisteredArray() = default;
  explicit RegisteredArray(std::int64_t size) {
    const std::int64_t page = ::sysconf(_SC_PAGESIZE) / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t whole = (size + page - 1) / page * page;
    // Zeroed: only pages that exist can be locked, and making them is part of the price.
    memory_ = AlignedArray<T>(whole + page);
    void* begin = memory_.data();
    auto space = static_cast<std::size_t>(memory_.size()) * sizeof(T);
    const std::size_t bytes = static_cast<std::size_t>(whole) * sizeof(T);
    std::align(static_cast<std::size_t>(page) * sizeof(T), bytes, begin, space);
    lock_ = RegisteredRange(begin, bytes);
    cells_ = {static_cast<T*>(begin), static_cast<std::size_t>(size)};
  }

  [[nodiscard]] T* data() const { return cells_.data(); }
  [[nodiscard]] std::span<T> cells() const { return cells_; }

 private:
  AlignedArray<T> memory_;
  RegisteredRange lock_; // let go before the memory is freed
  std::span<T> cells_;
};

/// Copies in stream order. From or to pageable memory the host may block until the data has left or
/// reached its buffer; with page-locked memory the call returns at once and the host side must stay
/// untouched until the stream has passed.
void copy_to_device(const Stream& stream, void* device, const void* host, std::size_t bytes);
void copy_to_host(const Stream& stream, void* host, const void* device, std::size_t bytes);

/// Rows in memory: the first, and the bytes from one to the next.
struct Rows {
  void* begin;
  std::size_t pitch;
};
struct ConstRows {
  const void* begin;
  std::size_t pitch;
};
/// The same for `rows` rows of `row_bytes`, with a pitch on each side.
void copy_rows(const Stream& stream, Rows to, ConstRows from, std::size_t row_bytes,
               std::size_t rows, cudaMemcpyKind kind);

/// Sets every byte of device memory to `byte`, in stream order. Does not block.
void fill_bytes(const Stream& stream, void* device, int byte, std::size_t bytes);

/// Moves the pages of managed memory in stream order. Do not block.
void prefetch_to_device(const Stream& stream, const void* managed, std::size_t bytes, int device);
void prefetch_to_host(const Stream& stream, const void* managed, std::size_t bytes);

} // namespace diffbench::gpu
