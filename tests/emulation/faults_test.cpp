// SPDX-License-Identifier: Apache-2.0
// Devices as configured, faults as planned, and what the runtime refuses.
#include "device_vector.hpp"

#include <cstring>

#include <cooperative_groups.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::emulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

__global__ void set_cell(int* cell, int value) { *cell = value; }

// Memory, stream, event, graph, kernel and copy, all given back on every path.
cudaError_t program() {
  cudaError_t first = cudaSuccess;
  const auto ok = [&first](cudaError_t code) {
    first = first == cudaSuccess ? code : first;
    return first == cudaSuccess;
  };
  int* cell = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  int result = 0;
  if (ok(cudaMalloc(&cell, sizeof(int))) && ok(cudaStreamCreate(&stream)) &&
      ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal))) {
    ok(try_launch({.grid = 1, .block = 1, .stream = stream}, set_cell, cell, 5));
    if (ok(cudaStreamEndCapture(stream, &graph)) && ok(cudaGraphInstantiate(&exec, graph)) &&
        ok(cudaGraphLaunch(exec, stream))) {
      ok(cudaMemcpyAsync(&result, cell, sizeof(int), cudaMemcpyDeviceToHost, stream));
    }
    ok(cudaStreamSynchronize(stream));
  }
  if (exec != nullptr) {
    ok(cudaGraphExecDestroy(exec));
  }
  if (graph != nullptr) {
    ok(cudaGraphDestroy(graph));
  }
  if (stream != nullptr) {
    ok(cudaStreamDestroy(stream));
  }
  ok(cudaFree(cell));
  EXPECT_TRUE(first != cudaSuccess || result == 5);
  return first;
}

TEST(Faults, EveryCallCanBeMadeToFail) {
  reset();
  ASSERT_EQ(program(), cudaSuccess);
  const std::int64_t calls = counters().calls;
  ASSERT_GE(calls, 12);
  for (std::int64_t k = 1; k <= calls; ++k) {
    reset({.seed = static_cast<std::uint64_t>(k)});
    fail_call(k, cudaErrorECCUncorrectable);
    EXPECT_EQ(program(), cudaErrorECCUncorrectable) << "call " << k;
    EXPECT_THAT(failed_call(), HasSubstr("cuda"));
    EXPECT_THAT(live_resources(), IsEmpty()) << "call " << k << ", " << failed_call();
    EXPECT_THAT(take_reports(), IsEmpty());
    EXPECT_EQ(cudaGetLastError(), cudaErrorECCUncorrectable);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

TEST(Faults, AKernelThatFaultsBreaksTheDevice) {
  reset();
  fail_kernel(1, cudaErrorIllegalAddress);
  EXPECT_EQ(program(), cudaErrorIllegalAddress);
  EXPECT_EQ(failed_call(), "kernel");
  EXPECT_THAT(live_resources(), IsEmpty());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress); // sticky
  int* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorIllegalAddress);
  reset();
  EXPECT_EQ(program(), cudaSuccess);
}

TEST(Devices, NoDriver) {
  reset({.driver = false});
  int count = 17;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(count, 17); // left unset, as CUDA 13 does
  EXPECT_STREQ(cudaGetErrorString(cudaGetLastError()),
               "CUDA driver version is insufficient for CUDA runtime version");
}

TEST(Devices, None) {
  reset({.devices = {}});
  int count = 17;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorNoDevice);
}

TEST(Devices, TwoWithMemoriesOfTheirOwn) {
  DeviceSpec small;
  small.memory_bytes = 1000;
  reset({.devices = {DeviceSpec{}, small}});
  int count = 0;
  check(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  check(cudaSetDevice(1));
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1001), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  check(cudaMalloc(&memory, 600));
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(free, 400u);
  EXPECT_EQ(total, 1000u);
  check(cudaFree(memory));
}

TEST(Devices, WithoutCodeForThem) {
  DeviceSpec old;
  old.compute_major = 5;
  old.has_code = false;
  reset({.devices = {old}});
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, set_cell), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(program(), cudaErrorNoKernelImageForDevice);
}

__global__ void sync_grid() { cooperative_groups::this_grid().sync(); }

TEST(Launches, RefuseWhatDoesNotFit) {
  reset();
  const DeviceVector<int> cell(1);
  const auto tried = [&](const Shape& shape) {
    return try_launch(shape, set_cell, cell.data(), 1);
  };
  EXPECT_EQ(tried({.grid = 0, .block = 1}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(tried({.grid = 1, .block = 1025}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(tried({.grid = {1, 65536}, .block = 1}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(tried({.grid = 1, .block = 1, .shared_bytes = 49153}), cudaErrorInvalidValue);
  check(cudaFuncSetAttribute(set_cell, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  EXPECT_EQ(tried({.grid = 1, .block = 1, .shared_bytes = 49153}), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(set_cell, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
            cudaErrorInvalidValue);

  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sync_grid, 1024, 0));
  EXPECT_EQ(blocks, 2); // 2048 threads a multiprocessor, of which there are 4
  EXPECT_EQ(try_launch({.grid = 9, .block = 1024, .cooperative = true}, sync_grid),
            cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(try_launch({.grid = 8, .block = 1024, .cooperative = true}, sync_grid), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(Resources, AreNamedUntilTheyAreGivenBack) {
  reset();
  void* device = nullptr;
  void* pinned = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaMalloc(&device, 12));
  check(cudaMallocHost(&pinned, 7));
  check(cudaStreamCreate(&stream));
  EXPECT_THAT(live_resources(),
              testing::UnorderedElementsAre("device memory, 12 bytes, made by call 1",
                                            "pinned memory, 7 bytes, made by call 2",
                                            "stream, made by call 3"));
  check(cudaFree(device));
  check(cudaFreeHost(pinned));
  check(cudaStreamDestroy(stream));
  EXPECT_THAT(live_resources(), IsEmpty());
}

} // namespace
} // namespace diffbench::emulation
