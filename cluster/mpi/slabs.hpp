// SPDX-License-Identifier: Apache-2.0
// What is sent in one go, where sizes are not fixed: counts are int, and some releases
// of MPI fail beyond 2 GiB.
#pragma once

#include <algorithm>
#include <cstddef>

namespace diffbench::cluster {

inline constexpr std::size_t slab_bytes = std::size_t{1} << 30;

/// Calls `slab(first, bytes)` for one part after the other, the last one smaller; once for nothing.
template <typename Slab>
void in_slabs(std::size_t bytes, Slab&& slab) {
  std::size_t first = 0;
  do {
    const std::size_t size = std::min(slab_bytes, bytes - first);
    slab(first, size);
    first += size;
  } while (first < bytes);
}

} // namespace diffbench::cluster
