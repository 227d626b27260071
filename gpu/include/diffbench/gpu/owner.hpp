// SPDX-License-Identifier: Apache-2.0
// Move-only ownership of one handle of the CUDA runtime.
#pragma once

#include <utility>

namespace diffbench::gpu {

/// Owns a handle and calls Destroy(handle) at the end of its life. Moved-from is null.
template <typename Handle, void (*Destroy)(Handle) noexcept>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(other.release()) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.release();
    }
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { reset(); }

  [[nodiscard]] Handle get() const { return handle_; }
  /// Hands the handle over to the caller.
  [[nodiscard]] Handle release() { return std::exchange(handle_, nullptr); }
  void reset() {
    if (handle_ != nullptr) {
      Destroy(std::exchange(handle_, nullptr));
    }
  }

 private:
  Handle handle_ = nullptr;
};

} // namespace diffbench::gpu
