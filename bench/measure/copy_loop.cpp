// SPDX-License-Identifier: Apache-2.0
// A file of its own, because compilers replace a loop that copies by a call of memcpy, with which
// it is to be compared. bench/CMakeLists.txt turns that off for this file; a test looks whether it
// did.
#include "host_copy.hpp"

#include <cstdint>

namespace diffbench::bench {

void copy_loop(std::byte* to, const std::byte* from, std::size_t bytes) {
  auto* __restrict words_to =
      static_cast<std::uint64_t*>(__builtin_assume_aligned(to, array_alignment));
  const auto* __restrict words_from =
      static_cast<const std::uint64_t*>(__builtin_assume_aligned(from, array_alignment));
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
    words_to[i] = words_from[i];
  }
}

} // namespace diffbench::bench
