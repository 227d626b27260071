// SPDX-License-Identifier: Apache-2.0
// Correct kernels give right results under every seed.
#include "device_vector.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <cooperative_groups.h>
#include <gtest/gtest.h>

namespace diffbench::emulation {
namespace {

int grid_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void sum_blocks(const int* in, int n, int* sums) {
  int* const of_warps = static_cast<int*>(emulated_dynamic_shared());
  const int i = grid_index();
  int sum = i < n ? in[i] : 0;
  for (int delta = warpSize / 2; delta > 0; delta /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, static_cast<unsigned>(delta));
  }
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    of_warps[warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
      total += of_warps[w];
    }
    atomicAdd(sums, total);
  }
}

TEST(Kernels, ReduceWithShuffles) {
  under_every_seed([] {
    const auto in = counting<int>(1000);
    const DeviceVector<int> device_in(in);
    const DeviceVector<int> sum(std::vector<int>{0});
    launch({.grid = 8, .block = 128, .shared_bytes = 4 * sizeof(int)}, sum_blocks, device_in.data(),
           1000, sum.data());
    EXPECT_EQ(sum.values()[0], std::accumulate(in.begin(), in.end(), 0));
  });
}

__global__ void transpose(const int* in, int width, int height, int* out) {
  auto* const tile = static_cast<int*>(emulated_dynamic_shared());
  const auto x0 = static_cast<int>(blockIdx.x * 8);
  const auto y0 = static_cast<int>(blockIdx.y * 8);
  const auto tx = static_cast<int>(threadIdx.x);
  const auto ty = static_cast<int>(threadIdx.y);
  if (x0 + tx < width && y0 + ty < height) {
    tile[ty * 9 + tx] = in[(y0 + ty) * width + x0 + tx];
  }
  __syncthreads();
  if (y0 + tx < height && x0 + ty < width) {
    out[(x0 + ty) * height + y0 + tx] = tile[tx * 9 + ty];
  }
}

TEST(Kernels, TransposeThroughSharedMemory) {
  under_every_seed([] {
    const int width = 21;
    const int height = 13;
    const auto in = counting<int>(width * height);
    const DeviceVector<int> device_in(in);
    const DeviceVector<int> out(in.size());
    launch({.grid = {3, 2}, .block = {8, 8}, .shared_bytes = 8 * 9 * sizeof(int)}, transpose,
           device_in.data(), width, height, out.data());
    const auto result = out.values();
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        ASSERT_EQ(result[x * height + y], in[y * width + x]);
      }
    }
  });
}

__global__ void diffuse_in_one_launch(float* a, float* b, int n, int steps) {
  const auto grid = cooperative_groups::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = grid_index(); i < n; i += static_cast<int>(grid.num_threads())) {
      b[i] = a[i] + 0.25f * (a[(i + n - 1) % n] + a[(i + 1) % n] - 2 * a[i]);
    }
    grid.sync();
    std::swap(a, b);
  }
}

TEST(Kernels, IterateOverGridBarriers) {
  under_every_seed([] {
    const auto start = counting<float>(100);
    const DeviceVector<float> a(start);
    const DeviceVector<float> b(start.size());
    launch({.grid = 5, .block = 16, .cooperative = true}, diffuse_in_one_launch, a.data(), b.data(),
           100, 4);
    EXPECT_EQ(a.values(), ring_diffusion(start, 4));
  });
}

__global__ void shuffles(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[0 * 32 + lane] = __shfl_sync(0xffffffffu, lane, 5);
  out[1 * 32 + lane] = __shfl_sync(0xffffffffu, lane, 9, 8);
  out[2 * 32 + lane] = __shfl_up_sync(0xffffffffu, lane, 3);
  out[3 * 32 + lane] = __shfl_up_sync(0xffffffffu, lane, 3, 16);
  out[4 * 32 + lane] = __shfl_down_sync(0xffffffffu, lane, 3);
  out[5 * 32 + lane] = __shfl_down_sync(0xffffffffu, lane, 3, 16);
  out[6 * 32 + lane] = __shfl_xor_sync(0xffffffffu, lane, 6);
  out[7 * 32 + lane] = static_cast<int>(__ballot_sync(0xffffffffu, lane % 3 == 0));
  // Two halves of a warp go their own ways.
  out[8 * 32 + lane] = lane < 16 ? __shfl_sync(0x0000ffffu, lane, 2) : 100;
  out[9 * 32 + lane] = __any_sync(0xffffffffu, lane == 7) + 2 * __all_sync(0xffffffffu, lane == 7);
}

// Expected values: PTX ISA, shfl.sync, and the CUDA C++ Programming Guide.
TEST(Kernels, ShufflesFollowTheirDefinition) {
  under_every_seed([] {
    const DeviceVector<int> out(10 * 32);
    launch({.grid = 1, .block = 32}, shuffles, out.data());
    const auto result = out.values();
    for (int lane = 0; lane < 32; ++lane) {
      const auto row = [&](int r) { return result[static_cast<std::size_t>(r * 32 + lane)]; };
      EXPECT_EQ(row(0), 5);
      EXPECT_EQ(row(1), lane / 8 * 8 + 1);
      EXPECT_EQ(row(2), lane >= 3 ? lane - 3 : lane);
      EXPECT_EQ(row(3), lane % 16 >= 3 ? lane - 3 : lane);
      EXPECT_EQ(row(4), lane < 29 ? lane + 3 : lane);
      EXPECT_EQ(row(5), lane % 16 < 13 ? lane + 3 : lane);
      EXPECT_EQ(row(6), lane ^ 6);
      EXPECT_EQ(static_cast<unsigned>(row(7)), 0x49249249u);
      EXPECT_EQ(row(8), lane < 16 ? 2 : 100);
      EXPECT_EQ(row(9), 1);
    }
  });
}

__global__ void take_a_number(int* counter, int* order) {
  order[grid_index()] = atomicAdd(counter, 1);
}

std::vector<int> order_of_threads(std::uint64_t seed) {
  reset({.seed = seed});
  const DeviceVector<int> counter(std::vector<int>{0});
  const DeviceVector<int> order(64);
  launch({.grid = 4, .block = 16}, take_a_number, counter.data(), order.data());
  return order.values();
}

TEST(Schedule, IsDecidedByTheSeed) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto order = order_of_threads(seed);
    EXPECT_EQ(order, order_of_threads(seed));
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted.front(), 0);
    ASSERT_EQ(sorted.back(), 63);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), seeds);
}

__global__ void increment(int* cells) { ++cells[grid_index()]; }

TEST(Schedule, DoesNotSwitchWhereNoThreadWaits) {
  reset();
  const DeviceVector<int> cells(std::vector<int>(4096));
  launch({.grid = 16, .block = 256}, increment, cells.data());
  EXPECT_EQ(cells.values(), std::vector<int>(4096, 1));
  EXPECT_EQ(counters().blocks, 16);
  EXPECT_LE(counters().switches, 2);
}

__global__ void wait_for_flag(int* flag) {
  if (blockIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
      __nanosleep(20);
    }
  } else {
    atomicExch(flag, 1);
  }
}

TEST(Kernels, SpinningThreadsOfResidentBlocksLetOthersRun) {
  under_every_seed([] {
    const DeviceVector<int> flag(std::vector<int>{0});
    launch({.grid = 2, .block = 1, .cooperative = true}, wait_for_flag, flag.data());
    EXPECT_EQ(flag.values()[0], 1);
  });
}

} // namespace
} // namespace diffbench::emulation
