// SPDX-License-Identifier: Apache-2.0
// Bugs in kernels whose blocks reach each other's shared memory, and launches of clusters that a
// device refuses.
#include "mutant.hpp"

#include <algorithm>

#include <cooperative_groups.h>

namespace diffbench::emulation {
namespace {

enum class Bug {
  none,
  no_barrier_before_reading,
  returns_while_it_is_read,
  writes_before_the_other_has_begun,
  one_block_stays_away,
  another_line,
  arrives_twice,
  waits_without_arriving,
  rank_beyond_the_cluster,
  foreign_address,
};

/// Each block of a cluster gives its numbers to the next one: cells [block][thread] turn by a
/// block.
template <Bug bug>
__global__ void pass_on(int* cells) {
  const auto cluster = cooperative_groups::this_cluster();
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  const auto rank = static_cast<int>(cluster.block_rank());
  const auto blocks = static_cast<int>(cluster.num_blocks());
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cluster.sync(); // all have begun
  shared[threadIdx.x] = cells[i];
  if constexpr (bug != Bug::no_barrier_before_reading) {
    cluster.sync();
  }
  const int next = bug == Bug::rank_beyond_the_cluster ? rank + 1 : (rank + 1) % blocks;
  int* const mapped = bug == Bug::foreign_address ? cells : shared;
  cells[i] = cluster.map_shared_rank(mapped, next)[threadIdx.x];
  if constexpr (bug == Bug::none || bug == Bug::no_barrier_before_reading) {
    cluster.sync(); // nobody returns while he is read
  }
}

template <Bug bug>
bool ring_of_blocks() {
  const std::vector<int> start = counting<int>(4 * 8 * 2);
  const DeviceVector<int> cells(start);
  launch({.grid = 8, .block = 8, .shared_bytes = 8 * sizeof(int), .cluster = 4}, pass_on<bug>,
         cells.data());
  std::vector<int> expected = start;
  for (const int begin : {0, 32}) {
    std::rotate(expected.begin() + begin, expected.begin() + begin + 8,
                expected.begin() + begin + 32);
  }
  return cudaDeviceSynchronize() == cudaSuccess && cells.values() == expected;
}

TEST(ClusterMutants, NoBarrierBeforeANeighbourIsRead) {
  expect_clean(ring_of_blocks<Bug::none>);
  expect_wrong_result(ring_of_blocks<Bug::no_barrier_before_reading>);
}

TEST(ClusterMutants, ABlockReturnsWhileOthersReadIt) {
  const Findings found = run_under_every_seed(ring_of_blocks<Bug::returns_while_it_is_read>);
  EXPECT_GT(found.runs_with_reports, 0);
  EXPECT_THAT(found.reports, testing::ContainsRegex("kernel .*: block .*, thread .* maps shared "
                                                    "memory of block .*, which has returned"));
}

TEST(ClusterMutants, WrongNeighbours) {
  expect_report(ring_of_blocks<Bug::rank_beyond_the_cluster>,
                "maps shared memory of block 4 at .*, and its cluster has 4");
  expect_report(ring_of_blocks<Bug::foreign_address>,
                "maps an address at .* that is not in its block's shared memory");
}

/// Each block writes into the next one's memory, which then takes it out.
template <Bug bug>
__global__ void push_on(int* cells) {
  const auto cluster = cooperative_groups::this_cluster();
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
  if constexpr (bug != Bug::writes_before_the_other_has_begun) {
    cluster.sync();
  }
  cluster.map_shared_rank(shared, next)[threadIdx.x] = cells[i];
  if constexpr (bug == Bug::arrives_twice) {
    cluster.barrier_arrive();
  }
  if constexpr (bug == Bug::one_block_stays_away) {
    if (cluster.block_rank() == 1) {
      return;
    }
  }
  if (bug == Bug::another_line && cluster.block_rank() == 1) {
    cluster.barrier_arrive();
  } else if constexpr (bug != Bug::waits_without_arriving) {
    cluster.barrier_arrive();
  }
  cluster.barrier_wait();
  cells[i] = shared[threadIdx.x];
}

/// Under seed after seed, until one brings a report.
template <typename Program>
void until_it_fails(Program program) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Settings settings;
    settings.seed = seed;
    reset(settings);
    if (!program()) {
      return;
    }
  }
}

template <Bug bug>
bool ring_of_pushes() {
  const std::vector<int> start = counting<int>(32);
  const DeviceVector<int> cells(start);
  launch({.grid = 4, .block = 8, .shared_bytes = 8 * sizeof(int), .cluster = 4}, push_on<bug>,
         cells.data());
  std::vector<int> expected = start;
  std::rotate(expected.begin(), expected.end() - 8, expected.end());
  return cudaDeviceSynchronize() == cudaSuccess && cells.values() == expected;
}

TEST(ClusterMutants, ABlockWritesBeforeTheOtherHasBegun) {
  expect_clean(ring_of_pushes<Bug::none>);
  expect_death_or_report(
      [] { until_it_fails(ring_of_pushes<Bug::writes_before_the_other_has_begun>); },
      "was written by another block before it had begun|use-after-poison");
}

TEST(ClusterMutants, BarriersThatNotAllReach) {
  expect_report(ring_of_pushes<Bug::one_block_stays_away>,
                "divergence: .*waits at a cluster barrier.*has returned");
  expect_report(ring_of_pushes<Bug::another_line>, "divergence: .*waits at a cluster barrier");
  expect_report(ring_of_pushes<Bug::arrives_twice>,
                "arrives at the cluster barrier at .*, and has not waited since");
  expect_report(ring_of_pushes<Bug::waits_without_arriving>,
                "waits at the cluster barrier at .*, and has not arrived there");
}

/// A pointer from before is used when the other block has returned.
template <bool Late>
__global__ void write_late(int* flag) {
  const auto cluster = cooperative_groups::this_cluster();
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  int* const other = cluster.map_shared_rank(shared, 1 - static_cast<int>(cluster.block_rank()));
  cluster.sync();
  if (cluster.block_rank() == 1) {
    if (Late) {
      while (atomicAdd(flag, 0) == 0) {
        __nanosleep(20);
      }
      __nanosleep(20);
      __nanosleep(20);
    }
    *other = 7;
  }
  if (!Late) {
    cluster.sync();
  }
  if (cluster.block_rank() == 0) {
    atomicAdd(flag, 1);
  }
}

template <bool Late>
bool written_in_time() {
  const DeviceVector<int> flag(std::vector<int>{0});
  launch({.grid = 2, .block = 1, .shared_bytes = sizeof(int), .cluster = 2}, write_late<Late>,
         flag.data());
  return cudaDeviceSynchronize() == cudaSuccess;
}

TEST(ClusterMutants, AnOldPointerIntoABlockThatHasReturned) {
  expect_clean(written_in_time<false>);
  expect_death_or_report([] { until_it_fails(written_in_time<true>); },
                         "was written by another block after it had returned|use-after-poison");
}

/// Each block clears its memory and works on for a while before it writes into the next one's,
/// which may be far behind and clear it afterwards.
template <bool Bug>
__global__ void clear_and_push(int* cells) {
  const auto cluster = cooperative_groups::this_cluster();
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
  cluster.sync(); // all have begun
  shared[threadIdx.x] = 0;
  const int value = cells[i];
  for (int round = 0; round < 20; ++round) {
    __syncthreads();
  }
  if (!Bug) {
    cluster.sync();
  }
  cluster.map_shared_rank(shared, next)[threadIdx.x] = value;
  cluster.sync();
  cells[i] = shared[threadIdx.x];
}

template <bool Bug>
bool cleared_first() {
  const std::vector<int> start = counting<int>(256);
  const DeviceVector<int> cells(start);
  launch({.grid = 4, .block = 64, .shared_bytes = 64 * sizeof(int), .cluster = 4},
         clear_and_push<Bug>, cells.data());
  std::vector<int> expected = start;
  std::rotate(expected.begin(), expected.end() - 64, expected.end());
  return cudaDeviceSynchronize() == cudaSuccess && cells.values() == expected;
}

// Found because the schedule lets a block fall behind: blocks that run evenly do not show it.
TEST(ClusterMutants, ABlockThatFallsBehindClearsWhatItWasGiven) {
  expect_clean(cleared_first<false>);
  expect_wrong_result(cleared_first<true>);
}

__global__ void nothing() {}

cudaError_t launch_nothing(unsigned grid, unsigned cluster, std::size_t shared_bytes = 0) {
  return try_launch({.grid = grid, .block = 32, .shared_bytes = shared_bytes, .cluster = cluster},
                    nothing);
}

cudaError_t allow_large_clusters() {
  return cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

TEST(ClusterMutants, LaunchesThatADeviceRefuses) {
  reset();
  EXPECT_EQ(launch_nothing(8, 4), cudaSuccess);
  EXPECT_EQ(launch_nothing(8, 3), cudaErrorInvalidConfiguration); // does not divide the grid
  EXPECT_EQ(launch_nothing(8, 0), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_nothing(16, 16), cudaErrorInvalidClusterSize);
  EXPECT_EQ(allow_large_clusters(), cudaSuccess);
  EXPECT_EQ(launch_nothing(16, 16), cudaSuccess);
  EXPECT_EQ(launch_nothing(32, 32), cudaErrorInvalidClusterSize);
  reset({.devices = {DeviceSpec{.cluster_launch = false}}});
  EXPECT_EQ(launch_nothing(8, 4), cudaErrorNotSupported);
  EXPECT_EQ(allow_large_clusters(), cudaErrorNotSupported);
  reset();
}

// What was allowed on one device holds there only.
TEST(ClusterMutants, AttributesBelongToAKernelOnADevice) {
  reset({.devices = {DeviceSpec{}, DeviceSpec{}}});
  constexpr std::size_t much = 100 << 10;
  EXPECT_EQ(allow_large_clusters(), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, much),
            cudaSuccess);
  EXPECT_EQ(launch_nothing(4, 4, much), cudaSuccess);
  EXPECT_EQ(launch_nothing(16, 16), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(launch_nothing(4, 4, much), cudaErrorInvalidValue);
  EXPECT_EQ(launch_nothing(16, 16), cudaErrorInvalidClusterSize);
  reset();
}

// As many clusters as fit into the groups of multiprocessors, none across two of them.
TEST(ClusterMutants, ClustersLieWithinAGroupOfMultiprocessors) {
  const auto clusters_of = [](unsigned blocks, int in_gpc) {
    reset({.devices = {DeviceSpec{.multiprocessors = 12, .multiprocessors_per_gpc = in_gpc}}});
    EXPECT_EQ(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10),
              cudaSuccess);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = 32;
    config.dynamicSmemBytes = 200 << 10; // one block a multiprocessor
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config), cudaSuccess);
    EXPECT_EQ(cudaLaunchKernelEx(&config, nothing) == cudaSuccess, clusters > 0);
    return clusters;
  };
  EXPECT_EQ(clusters_of(4, 12), 3);
  EXPECT_EQ(clusters_of(4, 6), 2);
  EXPECT_EQ(clusters_of(8, 6), 0);
  reset();
}

} // namespace
} // namespace diffbench::emulation
