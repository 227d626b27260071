// SPDX-License-Identifier: Apache-2.0
// A cluster of a running kernel: blocks that are resident together, their barrier, and the rules
// for each other's shared memory. A launch without clusters has clusters of one block.
#pragma once

#include "block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diffbench::emulation {

struct Cluster {
  std::vector<Block*> blocks; ///< by rank
  Barrier barrier;
  std::uint64_t phase = 0; ///< how often the barrier has opened
  ClusterOrder order;      ///< which that gives its threads
  std::size_t finished = 0;

  [[nodiscard]] bool shared() const { return blocks.size() > 1; }
  [[nodiscard]] std::size_t threads() const {
    return blocks.size() * blocks.front()->threads.size();
  }
  [[nodiscard]] unsigned rank_of(const Block& block) const {
    return static_cast<unsigned>(std::find(blocks.begin(), blocks.end(), &block) - blocks.begin());
  }
};

/// The index of block `in_cluster` of cluster `rank`; both count x first.
inline uint3 block_index(const dim3& grid, const dim3& cluster, unsigned rank,
                         unsigned in_cluster) {
  const unsigned across = grid.x / cluster.x;
  const unsigned down = grid.y / cluster.y;
  return {rank % across * cluster.x + in_cluster % cluster.x,
          rank / across % down * cluster.y + in_cluster / cluster.x % cluster.y,
          rank / across / down * cluster.z + in_cluster / cluster.x / cluster.y};
}

} // namespace diffbench::emulation
