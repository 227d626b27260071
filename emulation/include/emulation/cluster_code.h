// SPDX-License-Identifier: Apache-2.0
// What kernels see of a cluster: blocks that run at the same time and reach each other's shared
// memory. cooperative_groups.h gives it its names.
#pragma once

#include "emulation/device_code.h"

namespace diffbench::emulation::detail {

/// Says that the thread has come to the barrier of its cluster, and goes on.
void cluster_arrive(Site site);
/// Waits until all threads of the cluster have come. Threads that have returned do not count as
/// having come, which is stricter than the hardware.
void cluster_wait(Site site);
[[nodiscard]] unsigned cluster_block_rank();
[[nodiscard]] unsigned cluster_blocks();
/// Where block `rank` of the cluster has what lies at `address` in the current block's shared
/// memory.
[[nodiscard]] void* map_shared(const void* address, unsigned rank, Site site);

} // namespace diffbench::emulation::detail
