// Zeroed memory on a cache line's boundary, for vectors of any instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace diffbench::mlp {

template <typename T>
class AlignedArray {
  static_assert(std::is_trivial_v<T>);

 public:
  AlignedArray() = default;
  /// Throws std::bad_alloc.
  explicit AlignedArray(std::int64_t size) : size_(size) {
    const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(T) + 63) / 64 * 64;
    elements_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
    if (!elements_) {
      throw std::bad_alloc();
    }
    fill(T{});
  }

  [[nodiscard]] T* data() { return elements_.get(); }
  [[nodiscard]] const T* data() const { return elements_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::int64_t i) { return elements_[static_cast<std::size_t>(i)]; }
  void fill(T value) {
    for (std::int64_t i = 0; i < size_; ++i) {
      (*this)[i] = value;
    }
  }

 private:
  struct Free {
    void operator()(T* elements) const { std::free(elements); } // NOLINT(*-no-malloc)
  };
  std::unique_ptr<T[], Free> elements_;
  std::int64_t size_ = 0;
};

} // namespace diffbench::mlp
