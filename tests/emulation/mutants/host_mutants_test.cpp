// SPDX-License-Identifier: Apache-2.0
// Bugs in the host's use of memory, streams, events and handles.
#include "mutant.hpp"

#include <algorithm>
#include <memory>

namespace diffbench::emulation {
namespace {

constexpr std::size_t n = 16;
constexpr std::size_t bytes = n * sizeof(int);

__global__ void increment(int* cells) { ++cells[threadIdx.x]; }

void increment_in(cudaStream_t stream, int* cells) {
  launch({.grid = 1, .block = n, .stream = stream}, increment, cells);
}

// Two streams, an event, and page-locked memory of n cells, given back in any case.
struct Fixture {
  cudaStream_t stream = nullptr;
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  int* pinned = nullptr;
  DeviceVector<int> cells{std::vector<int>(n, 1)};

  Fixture() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    check(cudaEventCreate(&event));
    check(cudaMallocHost(&pinned, bytes));
    std::fill_n(pinned, n, 0);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() {
    cudaDeviceSynchronize();
    cudaFreeHost(pinned);
    cudaEventDestroy(event);
    cudaStreamDestroy(other);
    cudaStreamDestroy(stream);
  }

  void upload() const {
    check(cudaMemcpyAsync(cells.data(), pinned, bytes, cudaMemcpyHostToDevice, stream));
  }
  void download(cudaStream_t in) const {
    check(cudaMemcpyAsync(pinned, cells.data(), bytes, cudaMemcpyDeviceToHost, in));
  }
  [[nodiscard]] bool host_has(int value) const {
    return std::all_of(pinned, pinned + n, [value](int cell) { return cell == value; });
  }
};

template <bool Bug>
bool read_without_synchronisation() {
  const Fixture f;
  increment_in(f.stream, f.cells.data());
  f.download(f.stream);
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  return f.host_has(2);
}

TEST(HostMutants, DownloadReadWithoutSynchronisation) {
  expect_clean(read_without_synchronisation<false>);
  expect_wrong_result(read_without_synchronisation<true>);
}

template <bool Bug>
bool source_reused() {
  const Fixture f;
  std::fill_n(f.pinned, n, 5);
  f.upload();
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  std::fill_n(f.pinned, n, 9);
  return f.cells.values() == std::vector<int>(n, 5);
}

TEST(HostMutants, SourceReusedWhileACopyIsPending) {
  expect_clean(source_reused<false>);
  expect_wrong_result(source_reused<true>);
}

// Some drivers copy pageable memory before the call returns, others later: nothing may rely on it.
template <bool Bug>
bool pageable_source_reused() {
  const Fixture f;
  std::vector<int> host(n, 5);
  check(cudaMemcpyAsync(f.cells.data(), host.data(), bytes, cudaMemcpyHostToDevice, f.stream));
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  std::fill(host.begin(), host.end(), 9);
  return f.cells.values() == std::vector<int>(n, 5);
}

TEST(HostMutants, PageableSourceReusedWhileACopyIsPending) {
  expect_clean(pageable_source_reused<false>);
  expect_wrong_result(pageable_source_reused<true>);
}

template <bool Bug>
bool pageable_target_read() {
  const Fixture f;
  std::vector<int> host(n, 0);
  check(cudaMemcpyAsync(host.data(), f.cells.data(), bytes, cudaMemcpyDeviceToHost, f.stream));
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  const bool right = host == std::vector<int>(n, 1);
  check(cudaStreamSynchronize(f.stream));
  return right;
}

TEST(HostMutants, PageableTargetReadWithoutSynchronisation) {
  expect_clean(pageable_target_read<false>);
  expect_wrong_result(pageable_target_read<true>);
}

template <bool Bug>
bool two_streams() {
  const Fixture f;
  increment_in(f.stream, f.cells.data());
  check(cudaEventRecord(f.event, f.stream));
  if constexpr (!Bug) {
    check(cudaStreamWaitEvent(f.other, f.event));
  }
  f.download(f.other);
  check(cudaStreamSynchronize(f.other));
  return f.host_has(2);
}

TEST(HostMutants, MissingEventWaitBetweenStreams) {
  expect_clean(two_streams<false>);
  expect_wrong_result(two_streams<true>);
}

template <bool Bug>
bool event_recorded_too_early() {
  const Fixture f;
  if constexpr (Bug) {
    check(cudaEventRecord(f.event, f.stream));
  }
  increment_in(f.stream, f.cells.data());
  if constexpr (!Bug) {
    check(cudaEventRecord(f.event, f.stream));
  }
  check(cudaStreamWaitEvent(f.other, f.event));
  f.download(f.other);
  check(cudaStreamSynchronize(f.other));
  return f.host_has(2);
}

TEST(HostMutants, EventRecordedBeforeTheWork) {
  expect_clean(event_recorded_too_early<false>);
  expect_wrong_result(event_recorded_too_early<true>);
}

// cudaMemcpy() uses the default stream, which does not wait for non-blocking ones.
template <bool Bug>
bool default_stream() {
  const Fixture f;
  increment_in(f.stream, f.cells.data());
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  check(cudaMemcpy(f.pinned, f.cells.data(), bytes, cudaMemcpyDeviceToHost));
  return f.host_has(2);
}

TEST(HostMutants, DefaultStreamTakenToWaitForAllStreams) {
  expect_clean(default_stream<false>);
  expect_wrong_result(default_stream<true>);
}

template <bool Bug>
bool mapped_memory() {
  const Fixture f;
  increment_in(f.stream, f.pinned);
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  return f.host_has(1);
}

TEST(HostMutants, MappedMemoryReadWhileTheKernelIsPending) {
  expect_clean(mapped_memory<false>);
  expect_wrong_result(mapped_memory<true>);
}

template <bool Bug>
bool managed_memory() {
  const Fixture f;
  void* managed = nullptr;
  check(cudaMallocManaged(&managed, bytes));
  auto* const cells = static_cast<int*>(managed);
  std::fill_n(cells, bytes / sizeof(int), 1);
  increment_in(f.stream, cells);
  if constexpr (!Bug) {
    check(cudaStreamSynchronize(f.stream));
  }
  const bool right = *static_cast<volatile int*>(cells) == 2;
  check(cudaFree(managed));
  return right;
}

TEST(HostMutantsDeathTest, ManagedMemoryReadWhileTheKernelIsPending) {
  expect_clean(managed_memory<false>);
  expect_death_or_report(managed_memory<true>,
                         "the host touched managed memory, .* which a kernel uses");
}

template <bool Bug>
bool host_touches_device_memory() {
  const Fixture f;
  return Bug ? *static_cast<volatile int*>(f.cells.data()) == 1 : f.cells.values()[0] == 1;
}

TEST(HostMutantsDeathTest, HostReadsDeviceMemory) {
  expect_clean(host_touches_device_memory<false>);
  expect_death_or_report(host_touches_device_memory<true>,
                         "the host touched device memory, 64 bytes, made by call 1");
}

template <bool Bug>
bool host_pointer_to_kernel() {
  const Fixture f;
  std::vector<int> host(n, 1);
  increment_in(f.stream, Bug ? host.data() : f.cells.data());
  return cudaStreamSynchronize(f.stream) == cudaSuccess;
}

TEST(HostMutants, HostPointerPassedToAKernel) {
  expect_clean(host_pointer_to_kernel<false>);
  expect_report(host_pointer_to_kernel<true>, "pointer argument 1 is neither device memory");
}

template <bool Bug>
bool kernel_after_free() {
  int* cells = nullptr;
  check(cudaMalloc(&cells, bytes));
  if constexpr (Bug) {
    check(cudaFree(cells));
  }
  increment_in(nullptr, cells);
  const bool ok = cudaDeviceSynchronize() == cudaSuccess;
  if constexpr (!Bug) {
    check(cudaFree(cells));
  }
  return ok;
}

TEST(HostMutants, KernelOnFreedMemory) {
  expect_clean(kernel_after_free<false>);
  expect_report(kernel_after_free<true>, "use after free: pointer argument 1 is device memory");
}

struct Field {
  int* cells;
};
__global__ void increment_field(Field field) { ++field.cells[threadIdx.x]; }

// A pointer inside a structure is not seen at the launch; the access itself is.
TEST(HostMutantsDeathTest, KernelOnFreedMemoryInAStructure) {
  expect_death_or_report(
      [] {
        Field field{};
        check(cudaMalloc(&field.cells, bytes));
        check(cudaFree(field.cells));
        launch({.grid = 1, .block = n}, increment_field, field);
        cudaDeviceSynchronize();
      },
      "use after free: block .0,0,0., thread .*,0,0. touched device memory, 64 bytes");
}

template <bool Bug>
bool copy_after_free() {
  int* cells = nullptr;
  std::vector<int> host(n, 1);
  check(cudaMalloc(&cells, bytes));
  if constexpr (Bug) {
    check(cudaFree(cells));
  }
  const bool ok = cudaMemcpy(cells, host.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  if constexpr (!Bug) {
    check(cudaFree(cells));
  }
  return ok;
}

TEST(HostMutants, CopyToFreedMemory) {
  expect_clean(copy_after_free<false>);
  expect_report(copy_after_free<true>, "use after free: the target of a copy");
}

template <bool Bug>
bool free_twice() {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  check(cudaFree(memory));
  return !Bug || cudaFree(memory) == cudaSuccess;
}

TEST(HostMutants, DoubleFree) {
  expect_clean(free_twice<false>);
  expect_report(free_twice<true>, "double free of device memory, 64 bytes, made by call 1");
}

template <bool Bug>
bool copy_too_long() {
  const Fixture f;
  std::vector<int> host(n + 1);
  const std::size_t length = (Bug ? n + 1 : n) * sizeof(int);
  return cudaMemcpy(host.data(), f.cells.data(), length, cudaMemcpyDeviceToHost) == cudaSuccess;
}

TEST(HostMutants, CopyLongerThanTheBuffer) {
  expect_clean(copy_too_long<false>);
  expect_report(copy_too_long<true>,
                "the source of a copy of 68 bytes does not lie in device memory");
}

template <bool Bug>
bool direction() {
  const Fixture f;
  return cudaMemcpy(f.pinned, f.cells.data(), bytes,
                    Bug ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) == cudaSuccess;
}

TEST(HostMutants, CopyInTheWrongDirection) {
  expect_clean(direction<false>);
  expect_report(direction<true>, "a copy's direction contradicts its pointers");
}

template <bool Bug>
bool stream_after_destruction() {
  cudaStream_t stream = nullptr;
  const DeviceVector<int> cells(n);
  check(cudaStreamCreate(&stream));
  if constexpr (Bug) {
    check(cudaStreamDestroy(stream));
  }
  const bool ok = cudaStreamSynchronize(stream) == cudaSuccess;
  if constexpr (!Bug) {
    check(cudaStreamDestroy(stream));
  }
  return ok;
}

TEST(HostMutants, StreamUsedAfterItsDestruction) {
  expect_clean(stream_after_destruction<false>);
  expect_report(stream_after_destruction<true>, "a stream is used that was destroyed");
}

TEST(HostMutants, Leaks) {
  reset();
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  void* managed = nullptr;
  auto host = std::make_unique<int[]>(n);
  check(cudaStreamCreate(&stream));
  check(cudaEventCreate(&event));
  check(cudaMallocManaged(&managed, bytes));
  check(cudaHostRegister(host.get(), bytes, 0));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&exec, graph));
  EXPECT_THAT(live_resources(), testing::UnorderedElementsAre(
                                    "stream, made by call 1", "event, made by call 2",
                                    "managed memory, 64 bytes, made by call 3",
                                    "registered range, 64 bytes, made by call 4",
                                    "graph, made by call 6", "instantiated graph, made by call 7"));
  reset();
}

} // namespace
} // namespace diffbench::emulation
