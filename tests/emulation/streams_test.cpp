// SPDX-License-Identifier: Apache-2.0
// Streams, events, captures and graphs: correct programs give right results under every seed, and
// the order of their work is no stricter than the runtime promises.
#include "device_vector.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace diffbench::emulation {
namespace {

struct TestStream {
  cudaStream_t handle = nullptr;
  explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
    check(cudaStreamCreateWithFlags(&handle, flags));
  }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  ~TestStream() { cudaStreamDestroy(handle); }
};

struct TestEvent {
  cudaEvent_t handle = nullptr;
  TestEvent() { check(cudaEventCreateWithFlags(&handle, cudaEventDefault)); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  ~TestEvent() { cudaEventDestroy(handle); }
};

__global__ void diffuse(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    out[i] = in[i] + 0.25f * (in[(i + n - 1) % n] + in[(i + 1) % n] - 2 * in[i]);
  }
}

__global__ void append(int* log, int what) {
  log[1 + log[0]] = what;
  ++log[0];
}

Shape on(cudaStream_t stream, unsigned grid = 1, unsigned block = 1) {
  return {.grid = grid, .block = block, .stream = stream};
}

// Steps in one stream, a snapshot of each copied to the host in the other.
TEST(Streams, PipelineWithEvents) {
  under_every_seed([] {
    constexpr int n = 40;
    constexpr std::size_t bytes = n * sizeof(float);
    const auto start = counting<float>(n);
    const DeviceVector<float> a(start);
    const DeviceVector<float> b(start.size());
    const DeviceVector<float> snapshot(start.size());
    float* pinned = nullptr;
    check(cudaMallocHost(&pinned, 3 * bytes));
    {
      const TestStream compute;
      const TestStream download;
      const TestEvent stored;
      const TestEvent copied;
      float* in = a.data();
      float* out = b.data();
      for (int s = 0; s < 3; ++s) {
        launch(on(compute.handle, 3, 16), diffuse, in, out, n);
        check(cudaStreamWaitEvent(compute.handle, copied.handle));
        check(
            cudaMemcpyAsync(snapshot.data(), out, bytes, cudaMemcpyDeviceToDevice, compute.handle));
        check(cudaEventRecord(stored.handle, compute.handle));
        check(cudaStreamWaitEvent(download.handle, stored.handle));
        check(cudaMemcpyAsync(pinned + s * n, snapshot.data(), bytes, cudaMemcpyDeviceToHost,
                              download.handle));
        check(cudaEventRecord(copied.handle, download.handle));
        std::swap(in, out);
      }
      check(cudaStreamSynchronize(download.handle));
      for (int s = 0; s < 3; ++s) {
        EXPECT_EQ(std::vector<float>(pinned + s * n, pinned + (s + 1) * n),
                  ring_diffusion(start, s + 1));
      }
      float milliseconds = -1;
      check(cudaEventElapsedTime(&milliseconds, stored.handle, copied.handle));
      EXPECT_GT(milliseconds, 0);
    }
    check(cudaFreeHost(pinned));
  });
}

TEST(Streams, GraphReplaysWhatWasCaptured) {
  under_every_seed([] {
    constexpr int n = 40;
    const auto start = counting<float>(n);
    const DeviceVector<float> a(start);
    const DeviceVector<float> b(start.size());
    const TestStream stream;
    check(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
    launch(on(stream.handle, 3, 16), diffuse, a.data(), b.data(), n);
    launch(on(stream.handle, 3, 16), diffuse, b.data(), a.data(), n);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.handle, &graph));
    check(cudaStreamSynchronize(stream.handle));
    EXPECT_EQ(counters().kernels, 0); // a capture runs nothing
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, graph));
    check(cudaGraphDestroy(graph));
    for (int replay = 0; replay < 3; ++replay) {
      check(cudaGraphLaunch(exec, stream.handle));
    }
    check(cudaGraphExecDestroy(exec)); // its launches go on
    EXPECT_EQ(a.values(), ring_diffusion(start, 6));
  });
}

TEST(Streams, CapturedForkAndJoin) {
  under_every_seed([] {
    const DeviceVector<int> left(std::vector<int>(8));
    const DeviceVector<int> right(std::vector<int>(8));
    const TestStream main;
    const TestStream side;
    const TestEvent forked;
    const TestEvent joined;
    check(cudaStreamBeginCapture(main.handle, cudaStreamCaptureModeThreadLocal));
    launch(on(main.handle), append, right.data(), 1);
    check(cudaEventRecord(forked.handle, main.handle));
    check(cudaStreamWaitEvent(side.handle, forked.handle));
    launch(on(side.handle), append, right.data(), 2);
    launch(on(main.handle), append, left.data(), 3);
    check(cudaEventRecord(joined.handle, side.handle));
    check(cudaStreamWaitEvent(main.handle, joined.handle));
    launch(on(main.handle), append, right.data(), 4);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(main.handle, &graph));
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, graph));
    check(cudaGraphLaunch(exec, main.handle));
    EXPECT_EQ(right.values(), (std::vector<int>{3, 1, 2, 4, 0, 0, 0, 0}));
    EXPECT_EQ(left.values()[1], 3);
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
  });
}

TEST(StreamOrder, WorkOfTwoStreamsMayRunInAnyOrder) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    reset({.seed = seed});
    const DeviceVector<int> log(std::vector<int>(5));
    const TestStream a;
    const TestStream b;
    launch(on(a.handle), append, log.data(), 1);
    launch(on(a.handle), append, log.data(), 2);
    launch(on(b.handle), append, log.data(), 3);
    launch(on(b.handle), append, log.data(), 4);
    orders.insert(log.values());
  }
  EXPECT_EQ(orders.size(), 6u); // 4! / (2! 2!)
}

TEST(Streams, BlockingStreamsKeepToTheDefaultStream) {
  under_every_seed([] {
    const DeviceVector<int> log(std::vector<int>(4));
    const TestStream blocking(cudaStreamDefault);
    launch(on(blocking.handle), append, log.data(), 1);
    launch(on(nullptr), append, log.data(), 2);
    launch(on(blocking.handle), append, log.data(), 3);
    EXPECT_EQ(log.values(), (std::vector<int>{3, 1, 2, 3}));
  });
}

TEST(Streams, PollingLetsTheDeviceWork) {
  under_every_seed([] {
    const DeviceVector<int> log(std::vector<int>(3));
    const TestStream stream;
    const TestEvent event;
    launch(on(stream.handle), append, log.data(), 1);
    check(cudaEventRecord(event.handle, stream.handle));
    EXPECT_GT(pending_operations(), 0);
    while (cudaEventQuery(event.handle) == cudaErrorNotReady) {
    }
    EXPECT_EQ(pending_operations(), 0);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
}

TEST(Streams, MappedAndManagedMemoryHaveOneAddress) {
  under_every_seed([] {
    int* mapped = nullptr;
    int* of_device = nullptr;
    int* managed = nullptr;
    check(cudaHostAlloc(&mapped, 3 * sizeof(int), cudaHostAllocMapped));
    check(cudaHostGetDevicePointer(&of_device, mapped, 0));
    check(cudaMallocManaged(&managed, 3 * sizeof(int)));
    std::fill(mapped, mapped + 3, 0);
    std::fill(managed, managed + 3, 0);
    check(cudaMemPrefetchAsync(managed, 3 * sizeof(int), {cudaMemLocationTypeDevice, 0}, 0));
    launch(on(nullptr), append, of_device, 7);
    launch(on(nullptr), append, managed, 8);
    check(cudaDeviceSynchronize());
    EXPECT_EQ(mapped[1], 7);
    EXPECT_EQ(managed[1], 8);
    check(cudaFreeHost(mapped));
    check(cudaFree(managed));
  });
}

TEST(Streams, RegisteredMemoryIsPageLockedUntilUnregistered) {
  under_every_seed([] {
    std::vector<int> host{1, 2, 3};
    const std::size_t bytes = host.size() * sizeof(int);
    check(cudaHostRegister(host.data(), bytes, cudaHostRegisterDefault));
    EXPECT_EQ(cudaHostRegister(host.data(), bytes, 0), cudaErrorHostMemoryAlreadyRegistered);
    const DeviceVector<int> device(host.size());
    const TestStream stream;
    check(
        cudaMemcpyAsync(device.data(), host.data(), bytes, cudaMemcpyHostToDevice, stream.handle));
    host[1] = 20; // too early on a real device; here it shows that the copy has not run
    check(cudaHostUnregister(host.data()));
    EXPECT_EQ(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
    EXPECT_EQ(device.values(), (std::vector<int>{1, 20, 3}));
  });
}

TEST(Streams, RowsOfDifferentPitch) {
  under_every_seed([] {
    const auto host = counting<int>(12); // 3 rows of 4
    const DeviceVector<int> device(3 * 8);
    check(cudaMemcpy2D(device.data(), 8 * sizeof(int), host.data(), 4 * sizeof(int),
                       4 * sizeof(int), 3, cudaMemcpyHostToDevice));
    std::vector<int> back(12);
    check(cudaMemcpy2D(back.data(), 4 * sizeof(int), device.data(), 8 * sizeof(int),
                       4 * sizeof(int), 3, cudaMemcpyDeviceToHost));
    EXPECT_EQ(back, host);
    EXPECT_EQ(device.values()[4], -1); // between the rows: as it was allocated
  });
}

TEST(Capture, RefusesWhatTheRuntimeRefuses) {
  reset();
  const TestStream stream;
  const TestStream other;
  const TestEvent event;
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream.handle, &graph), cudaErrorIllegalState);

  check(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
  EXPECT_EQ(cudaStreamSynchronize(stream.handle), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream.handle, &graph), cudaErrorStreamCaptureInvalidated);

  check(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal));
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 8), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream.handle, &graph), cudaErrorStreamCaptureInvalidated);

  check(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
  check(cudaEventRecord(event.handle, stream.handle));
  check(cudaStreamWaitEvent(other.handle, event.handle));
  check(cudaLaunchHostFunc(
      other.handle, [](void*) {}, nullptr));
  EXPECT_EQ(cudaStreamEndCapture(stream.handle, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  check(cudaStreamSynchronize(other.handle)); // has left the capture
}

} // namespace
} // namespace diffbench::emulation
