// Arrays on a cache line's boundary, the larger ones in huge pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace diffbench {

/// Asks for memory that is not touched: its pages belong to the thread that first writes them.
struct Uninitialised {};
inline constexpr Uninitialised uninitialised{};

namespace detail {
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
/// Arrays from so many bytes on lie in huge pages. One is contiguous memory of the machine; of
/// which small pages an array is made decides how they share the sets of L2, and made one of two
/// equal sessions up to 9 % slower than the other, fields of `fused` and the buffers of `simd`'s
/// threads alike (diffbench selftest). It also takes one TLB entry for 2 MiB instead of 4 KiB.
inline constexpr std::size_t huge_from = huge_page / 32;

/// Cache-line aligned memory, from huge_from on in huge pages where the kernel has them; throws
/// Error naming the size.
[[nodiscard]] void* allocate_aligned(std::size_t bytes, bool zeroed);
/// `bytes` as in allocate_aligned.
void free_aligned(void* memory, std::size_t bytes) noexcept;
} // namespace detail

/// Alignment of arrays in bytes: a cache line, and the widest vector register.
inline constexpr std::size_t array_alignment = 64;

/// An array of trivially copyable elements on array_alignment, zero-initialised unless asked
/// otherwise.
template <typename T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedArray() = default;
  /// Throws Error when the memory cannot be had.
  explicit AlignedArray(std::int64_t size) : AlignedArray(size, true) {}
  AlignedArray(std::int64_t size, Uninitialised /*tag*/) : AlignedArray(size, false) {}

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  void fill(T value) { std::fill_n(data(), size_, value); }

 private:
  AlignedArray(std::int64_t size, bool zeroed)
      : size_(size),
        data_(static_cast<T*>(detail::allocate_aligned(bytes(size), zeroed)), Free{size}) {}

  [[nodiscard]] static std::size_t bytes(std::int64_t size) {
    return static_cast<std::size_t>(size) * sizeof(T);
  }

  struct Free {
    std::int64_t size = 0;
    void operator()(T* memory) const noexcept { detail::free_aligned(memory, bytes(size)); }
  };
  std::int64_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

} // namespace diffbench
