// SPDX-License-Identifier: Apache-2.0
// Numbers that nobody can foretell. Linux.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/random.h>

namespace diffbench {

/// From the kernel; std::random_device would ask for the C library of 2022. Throws
/// std::system_error where the kernel has none.
[[nodiscard]] inline std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw std::system_error(errno, std::generic_category(), "random bytes");
  }
  return bits;
}

} // namespace diffbench
