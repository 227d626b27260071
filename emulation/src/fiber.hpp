// SPDX-License-Identifier: Apache-2.0
// Fibers: functions that take turns on one host thread, each with a stack of its own.
//
// On x86-64 a switch is a dozen instructions of our own; elsewhere swapcontext() makes it, which
// costs a system call (0.2 us, and several times that on some virtual machines). The address
// sanitizer is told of every switch (sanitizer/common_interface_defs.h). A fiber is kept and used
// again, so its code is a loop that never returns. Below each stack lies a page that faults.
#pragma once

#include <cstddef>
#include <functional>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace diffbench::emulation {

class Fiber {
 public:
  /// The calling thread's own stack, to come back to.
  Fiber() = default;
  /// `body` starts at the first switch to the fiber and must not return.
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Leaves `from`, which must be the fiber that runs; returns when someone switches back to it.
  static void switch_to(Fiber& from, Fiber& to);
  /// Is `address` in the page below this fiber's stack?
  [[nodiscard]] bool overflowed_at(const void* address) const;

  [[nodiscard]] bool holds(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    return byte >= stack_bottom_ &&
           byte < static_cast<const std::byte*>(stack_bottom_) + stack_size_;
  }

  static constexpr std::size_t stack_bytes = 128 << 10;

 private:
  void prepare_stack();
  static void enter();
  void arrive();

  std::function<void()> body_;
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr; ///< while another fiber runs; what it had to keep lies there
#else
  ucontext_t context_{};
#endif
  std::byte* mapping_ = nullptr; ///< guard page, then the stack
  const void* stack_bottom_ = nullptr;
  std::size_t stack_size_ = 0;
  /// The address sanitizer's, while another fiber runs.
  [[maybe_unused]] void* fake_stack_ = nullptr;
};

} // namespace diffbench::emulation
