// SPDX-License-Identifier: Apache-2.0
// Bugs in kernels. Each test names the bug; the detector is what it expects.
#include "mutant.hpp"

#include <algorithm>
#include <utility>

#include <cooperative_groups.h>

namespace diffbench::emulation {
namespace {

constexpr unsigned whole_warp = 0xffffffffu;

int grid_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <bool Bug>
__global__ void reverse_block(int* cells) {
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  shared[threadIdx.x] = cells[threadIdx.x];
  if constexpr (!Bug) {
    __syncthreads();
  }
  cells[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

template <bool Bug>
bool missing_barrier() {
  const DeviceVector<int> cells(counting<int>(64));
  launch({.grid = 1, .block = 64, .shared_bytes = 64 * sizeof(int)}, reverse_block<Bug>,
         cells.data());
  auto expected = counting<int>(64);
  std::reverse(expected.begin(), expected.end());
  return cells.values() == expected;
}

TEST(KernelMutants, MissingBarrier) {
  expect_clean(missing_barrier<false>);
  expect_wrong_result(missing_barrier<true>);
}

// The first barrier is there; the one that keeps the next round from overwriting what is still read
// is not.
template <bool Bug>
__global__ void rotate_block(int* cells, int rounds) {
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  for (int r = 0; r < rounds; ++r) {
    shared[threadIdx.x] = cells[threadIdx.x];
    __syncthreads();
    cells[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
    if constexpr (!Bug) {
      __syncthreads();
    }
  }
}

template <bool Bug>
bool overwritten_too_early() {
  const DeviceVector<int> cells(counting<int>(64));
  launch({.grid = 1, .block = 64, .shared_bytes = 64 * sizeof(int)}, rotate_block<Bug>,
         cells.data(), 3);
  auto expected = counting<int>(64);
  std::rotate(expected.begin(), expected.begin() + 3, expected.end());
  return cells.values() == expected;
}

TEST(KernelMutants, SharedMemoryOverwrittenWhileItIsRead) {
  expect_clean(overwritten_too_early<false>);
  expect_wrong_result(overwritten_too_early<true>);
}

template <bool Bug>
__global__ void barrier_after_return(int* cells, int n) {
  const int i = grid_index();
  if (Bug && i >= n) {
    return;
  }
  const int value = i < n ? cells[i] : 0;
  __syncthreads();
  if (i < n) {
    cells[i] = value + 1;
  }
}

template <bool Bug>
bool early_return() {
  const DeviceVector<int> cells(std::vector<int>(50));
  launch({.grid = 2, .block = 32}, barrier_after_return<Bug>, cells.data(), 50);
  return cudaDeviceSynchronize() == cudaSuccess && cells.values() == std::vector<int>(50, 1);
}

TEST(KernelMutants, ReturnBeforeABarrier) {
  expect_clean(early_return<false>);
  expect_report(
      early_return<true>,
      "kernel .*barrier_after_return<true>.*divergence: block .1,0,0., thread .*,0,0. waits "
      "at a block barrier, kernel_mutants_test.cpp:[0-9]*, but block .1,0,0., thread "
      ".*,0,0. has returned");
}

template <bool Bug>
__global__ void barrier_in_branch(int* cells) {
  if (!Bug || threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  ++cells[threadIdx.x];
}

template <bool Bug>
bool two_barriers() {
  const DeviceVector<int> cells(std::vector<int>(32));
  launch({.grid = 1, .block = 32}, barrier_in_branch<Bug>, cells.data());
  return cudaDeviceSynchronize() == cudaSuccess && cells.values() == std::vector<int>(32, 1);
}

TEST(KernelMutants, TwoBarriersForOneBlock) {
  expect_clean(two_barriers<false>);
  expect_report(two_barriers<true>,
                "divergence: .*waits at a block barrier.*waits at a block barrier");
}

template <bool Bug>
__global__ void shuffle_of_half_a_warp(int* cells) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    cells[lane] = __shfl_sync(Bug ? whole_warp : 0xffffu, cells[lane], 3);
  } else {
    __syncwarp(Bug ? whole_warp : 0xffff0000u);
  }
}

template <bool Bug>
bool wrong_mask() {
  const DeviceVector<int> cells(counting<int>(32));
  launch({.grid = 1, .block = 32}, shuffle_of_half_a_warp<Bug>, cells.data());
  return cudaDeviceSynchronize() == cudaSuccess && cells.values()[15] == 4;
}

TEST(KernelMutants, ShuffleMaskNamesLanesThatDoNotCome) {
  expect_clean(wrong_mask<false>);
  expect_report(wrong_mask<true>, "divergence: .*waits for its warp");
}

template <bool Bug>
__global__ void shuffle_from_lanes_that_left(int* cells, int n) {
  const auto i = static_cast<int>(threadIdx.x);
  if (Bug && i >= n) {
    return;
  }
  const int value = i < n ? cells[i] : 0;
  const int right = __shfl_down_sync(whole_warp, value, 1);
  if (i < n) {
    cells[i] = right;
  }
}

template <bool Bug>
bool lanes_that_left() {
  const DeviceVector<int> cells(counting<int>(20));
  launch({.grid = 1, .block = 32}, shuffle_from_lanes_that_left<Bug>, cells.data(), 20);
  return cells.values()[19] == 0;
}

TEST(KernelMutants, ShuffleFromALaneThatHasReturned) {
  expect_clean(lanes_that_left<false>);
  expect_wrong_result(lanes_that_left<true>);
}

template <bool Bug>
__global__ void difference(const float* in, float* out, int n) {
  const int i = grid_index();
  if (i < n) {
    out[i] = in[Bug || i + 1 < n ? i + 1 : i] - in[i];
  }
}

template <bool Bug>
bool read_beyond_the_end() {
  const DeviceVector<float> in(counting<float>(64)); // 256 bytes: the page ends with the buffer
  const DeviceVector<float> out(64);
  launch({.grid = 2, .block = 32}, difference<Bug>, in.data(), out.data(), 64);
  return out.values()[63] == 0;
}

TEST(KernelMutantsDeathTest, HaloReadBeyondTheBuffer) {
  expect_clean(read_beyond_the_end<false>);
  expect_death_or_report(read_beyond_the_end<true>,
                         "out of bounds: block .1,0,0., thread .31,0,0. touched byte 256");
}

__global__ void fill(int* cells, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    cells[i] = 7;
  }
}

template <int Begin, int End>
bool fill_ten_cells() {
  const DeviceVector<int> cells(10);
  launch({.grid = 1, .block = 1}, fill, cells.data(), Begin, End);
  return cudaDeviceSynchronize() == cudaSuccess && cells.values() == std::vector<int>(10, 7);
}

TEST(KernelMutantsDeathTest, WriteOneCellBesideTheBuffer) {
  expect_clean(fill_ten_cells<0, 10>);
  const std::string expression = "out of bounds: wrote beside device memory, 40|use-after-poison";
  expect_death_or_report(fill_ten_cells<0, 11>, expression);
  expect_death_or_report(fill_ten_cells<-1, 10>, expression);
}

template <bool Bug>
__global__ void fill_shared(int* cells) {
  auto* const shared = static_cast<int*>(emulated_dynamic_shared());
  for (int i = 0; i < (Bug ? 9 : 8); ++i) {
    shared[i] = i;
  }
  *cells = shared[7];
}

template <bool Bug>
bool shared_overrun() {
  const DeviceVector<int> cell(1);
  launch({.grid = 1, .block = 1, .shared_bytes = 8 * sizeof(int)}, fill_shared<Bug>, cell.data());
  return cudaDeviceSynchronize() == cudaSuccess && cell.values()[0] == 7;
}

TEST(KernelMutantsDeathTest, MoreSharedMemoryThanLaunchedWith) {
  expect_clean(shared_overrun<false>);
  expect_death_or_report(shared_overrun<true>,
                         "wrote outside its 32 bytes of dynamic shared memory|use-after-poison");
}

template <bool Bug>
__global__ void sum_shared(float* result) {
  auto* const shared = static_cast<float*>(emulated_dynamic_shared());
  if (!Bug || threadIdx.x != 5) {
    shared[threadIdx.x] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *result = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) {
      *result += shared[i];
    }
  }
}

template <bool Bug>
bool uninitialised_shared() {
  const DeviceVector<float> result(1);
  launch({.grid = 1, .block = 32, .shared_bytes = 32 * sizeof(float)}, sum_shared<Bug>,
         result.data());
  return result.values()[0] == 32.0f;
}

TEST(KernelMutants, SharedMemoryReadBeforeItIsWritten) {
  expect_clean(uninitialised_shared<false>);
  expect_wrong_result(uninitialised_shared<true>);
}

__global__ void add_to(float* sum, const float* cells, int n) {
  for (int i = 0; i < n; ++i) {
    *sum += cells[i];
  }
}

template <bool Bug>
bool uninitialised_device_memory() {
  const DeviceVector<float> cells(std::vector<float>(4, 1.0f));
  const DeviceVector<float> sum(1);
  if constexpr (!Bug) {
    check(cudaMemset(sum.data(), 0, sizeof(float)));
  }
  launch({.grid = 1, .block = 1}, add_to, sum.data(), cells.data(), 4);
  return sum.values()[0] == 4.0f;
}

TEST(KernelMutants, DeviceMemoryReadBeforeItIsWritten) {
  expect_clean(uninitialised_device_memory<false>);
  expect_wrong_result(uninitialised_device_memory<true>);
}

__global__ void diffuse(const float* in, float* out, int n) {
  const int i = grid_index();
  if (i < n) {
    out[i] = in[i] + 0.25f * (in[(i + n - 1) % n] + in[(i + 1) % n] - 2 * in[i]);
  }
}

template <bool Bug>
bool stencil_in_place() {
  const auto start = counting<float>(64);
  const DeviceVector<float> in(start);
  const DeviceVector<float> out(start.size());
  float* const target = Bug ? in.data() : out.data();
  launch({.grid = 8, .block = 8}, diffuse, in.data(), target, 64);
  return (Bug ? in : out).values() == ring_diffusion(start, 1);
}

TEST(KernelMutants, StencilInPlaceRacesBetweenBlocks) {
  expect_clean(stencil_in_place<false>);
  expect_wrong_result(stencil_in_place<true>);
}

template <bool Bug>
bool grid_too_small() {
  const auto start = counting<float>(50);
  const DeviceVector<float> in(start);
  const DeviceVector<float> out(start.size());
  launch({.grid = (50 + (Bug ? 0 : 31)) / 32, .block = 32}, diffuse, in.data(), out.data(), 50);
  return out.values() == ring_diffusion(start, 1);
}

TEST(KernelMutants, GridRoundedDown) {
  expect_clean(grid_too_small<false>);
  expect_wrong_result(grid_too_small<true>);
}

template <bool Bug>
__global__ void diffuse_in_one_launch(float* a, float* b, int n, int steps) {
  const int i = grid_index();
  for (int s = 0; s < steps; ++s) {
    b[i] = a[i] + 0.25f * (a[(i + n - 1) % n] + a[(i + 1) % n] - 2 * a[i]);
    if constexpr (Bug) {
      __syncthreads();
    } else {
      cooperative_groups::this_grid().sync();
    }
    std::swap(a, b);
  }
}

template <bool Bug, bool Cooperative = true>
bool persistent() {
  const auto start = counting<float>(64);
  const DeviceVector<float> a(start);
  const DeviceVector<float> b(start.size());
  launch({.grid = 8, .block = 8, .cooperative = Cooperative}, diffuse_in_one_launch<Bug>, a.data(),
         b.data(), 64, 4);
  return cudaDeviceSynchronize() == cudaSuccess && a.values() == ring_diffusion(start, 4);
}

TEST(KernelMutants, BlockBarrierWhereTheGridMustWait) {
  expect_clean(persistent<false>);
  expect_wrong_result(persistent<true>);
}

TEST(KernelMutants, GridBarrierInAnOrdinaryLaunch) {
  expect_report(persistent<false, false>,
                "meets a grid barrier at .*, but the launch is not cooperative");
}

template <bool Bug>
__global__ void copy_quads(const float* in, float* out, int n) {
  const int i = 4 * grid_index() + (Bug ? 2 : 0);
  if (i + 4 <= n) {
    emulated_wide_access(in + i);
    std::copy_n(in + i, 4, out + i);
  }
}

template <bool Bug>
bool wide_copy() {
  const auto start = counting<float>(64);
  const DeviceVector<float> in(start);
  const DeviceVector<float> out(start.size());
  launch({.grid = 2, .block = 8}, copy_quads<Bug>, in.data(), out.data(), 64);
  return cudaDeviceSynchronize() == cudaSuccess && out.values() == start;
}

TEST(KernelMutants, MisalignedWideAccess) {
  expect_clean(wide_copy<false>);
  expect_report(wide_copy<true>, "accesses 16 bytes at a misaligned address at .*:[0-9]+");
}

__global__ void wait_for_flag(int* flag) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) != 1) {
      __nanosleep(20);
    }
  }
}

TEST(KernelMutants, SpinsOnAFlagThatNobodySets) {
  reset();
  const DeviceVector<int> flag(std::vector<int>{0});
  launch({.grid = 1, .block = 1}, wait_for_flag, flag.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_THAT(take_reports(), testing::ElementsAre(testing::HasSubstr("spins for ever")));
}

} // namespace
} // namespace diffbench::emulation
