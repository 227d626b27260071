// SPDX-License-Identifier: Apache-2.0
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

/// Bits of an address by which a CPU tells at first whether a load is of a store that it follows.
inline constexpr std::size_t alias_period = 4096;

/// Cache-line aligned memory, from huge_from on in huge pages where the kernel has them; throws
/// Error naming the size.
[[nodiscard]] void* allocate_aligned(std::size_t bytes, bool zeroed);
/// `bytes` as in allocate_aligned.
void free_aligned(void* memory, std::size_t bytes) noexcept;
} // namespace detail

/// Alignment of arrays in bytes: a cache line, and the widest vector register.
inline constexpr std::size_t array_alignment = 64;

/// How far into its page an array begins.
struct Stagger {
  std::size_t bytes = 0;
};

/// Where the second of two fields begins, the first beginning at 0, of which a stencil reads one
/// and writes the other, in turns; rows are `row_bytes` apart.
///
/// A load is held back, or taken for a store's own, where their addresses agree modulo 4096, and
/// what becomes of it depends on further bits: of 8 sessions whose fields agreed, some were 4.5 to
/// 8 % slower for life (Intel Ice Lake, `fused` at 256x256). With a stagger d and rows of L bytes
/// the streams of the stencil, y - 1, y and y + 1, lie d - L, d and d + L from what is written, and
/// after the swap as far on the other side: d must keep away from 0, L and -L modulo 4096. Three
/// points leave a gap of at least 4096 / 3 on the circle: its middle is 682 bytes, ten cache lines,
/// from each of them, whatever L is. No single d would do: 2112 meets the row above at 2048 bytes a
/// row, as of 512 float32 cells.
[[nodiscard]] Stagger stagger_beside(std::size_t row_bytes);

/// Of the `index`-th of several arrays that are gone through together, cell by cell: all of eight
/// differ by 512 bytes or more.
[[nodiscard]] Stagger stagger_of(std::size_t index);

/// An array of trivially copyable elements on array_alignment, zero-initialised unless asked
/// otherwise.
template <typename T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedArray() = default;
  /// Throws Error when the memory cannot be had.
  explicit AlignedArray(std::int64_t size, Stagger stagger = {})
      : AlignedArray(size, true, stagger) {}
  AlignedArray(std::int64_t size, Uninitialised /*tag*/, Stagger stagger = {})
      : AlignedArray(size, false, stagger) {}

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  void fill(T value) { std::fill_n(data(), size_, value); }

 private:
  AlignedArray(std::int64_t size, bool zeroed, Stagger stagger)
      : size_(size),
        data_(reinterpret_cast<T*>(static_cast<std::byte*>(detail::allocate_aligned(
                                       bytes(size) + stagger.bytes, zeroed)) +
                                   stagger.bytes),
              Free{bytes(size), stagger.bytes}) {}

  [[nodiscard]] static std::size_t bytes(std::int64_t size) {
    return static_cast<std::size_t>(size) * sizeof(T);
  }

  struct Free {
    std::size_t bytes = 0;
    std::size_t stagger = 0;
    void operator()(T* memory) const noexcept {
      detail::free_aligned(reinterpret_cast<std::byte*>(memory) - stagger, bytes + stagger);
    }
  };
  std::int64_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

} // namespace diffbench
