// SPDX-License-Identifier: Apache-2.0
// Compiled so that its accesses are watched. Lines that race in a mutant are marked.
#include "race_mutants.hpp"

#include "../device_vector.hpp"

#include <vector>

#include <cooperative_groups.h>

namespace diffbench::emulation {
namespace {

constexpr unsigned whole_warp = 0xffffffffu;
constexpr int threads = 64;
constexpr int blocks = 4;

int* shared_ints() { return static_cast<int*>(emulated_dynamic_shared()); }
int thread() { return static_cast<int>(threadIdx.x); }
int block() { return static_cast<int>(blockIdx.x); }
int size() { return static_cast<int>(blockDim.x); }
int next_thread() { return (thread() + 1) % size(); }
int next_block() { return (block() + 1) % static_cast<int>(gridDim.x); }
int grid_index() { return block() * size() + thread(); }

// Each kernel is given cells, and flags that are 0; launched with all blocks resident.
template <typename Kernel>
void run(Kernel kernel, Shape shape) {
  const DeviceVector<int> cells(counting<int>(2 * threads * blocks));
  const DeviceVector<int> flags(std::vector<int>(2 * blocks));
  shape.shared_bytes = 2 * threads * sizeof(int);
  launch(shape, kernel, cells.data(), flags.data());
  cudaDeviceSynchronize();
}
const Shape one_block = {.grid = 1, .block = threads};
const Shape one_warp = {.grid = 1, .block = 32};
const Shape some_blocks = {.grid = blocks, .block = threads, .cooperative = true};
const Shape one_cluster = {.grid = blocks, .block = threads, .cluster = blocks};

// Barriers of a block

template <bool Bug>
__global__ void missing_barrier(int* cells, int*) {
  int* const shared = shared_ints();
  shared[thread()] = cells[thread()]; // races
  if (!Bug) {
    __syncthreads();
  }
  cells[thread()] = shared[next_thread()]; // races
}

template <bool Bug>
__global__ void barrier_after_reading(int* cells, int*) {
  int* const shared = shared_ints();
  for (int step = 0; step < 3; ++step) {
    shared[thread()] = cells[thread()]; // races
    __syncthreads();
    cells[thread()] = shared[next_thread()]; // races
    if (!Bug) {
      __syncthreads();
    }
  }
}

// A barrier a step is enough with two sets in turn.
template <bool Bug>
__global__ void a_set_too_few(int* cells, int*) {
  int value = cells[thread()];
  for (int step = 0; step < 4; ++step) {
    int* const set = shared_ints() + (Bug ? 0 : step % 2 * threads);
    set[thread()] = value; // races
    __syncthreads();
    value += set[next_thread()]; // races
  }
  cells[thread()] = value;
}

template <bool Bug>
__global__ void barrier_of_a_warp(int* cells, int*) {
  int* const shared = shared_ints();
  shared[thread()] = cells[thread()]; // races
  if (Bug) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  cells[thread()] = shared[next_thread()]; // races
}

template <bool Bug>
__global__ void neighbour_writes_too(int* cells, int*) {
  int* const shared = shared_ints();
  const int width = Bug ? 2 : 1; // of what a thread writes, in steps of one
  for (int i = 0; i < width; ++i) {
    shared[(thread() + i) % size()] = 7; // races
  }
  __syncthreads();
  cells[thread()] = shared[thread()];
}

template <bool Bug>
__global__ void bytes_of_a_word(int* cells, int*) {
  auto* const bytes = reinterpret_cast<unsigned char*>(shared_ints());
  bytes[thread()] = 1; // races
  if (thread() + 1 < size()) {
    cells[thread()] = bytes[thread() + (Bug ? 1 : 0)]; // races
  }
}

// Barriers of a warp

template <bool Bug>
__global__ void missing_warp_barrier(int* cells, int*) {
  int* const shared = shared_ints();
  shared[thread()] = cells[thread()]; // races
  if (!Bug) {
    __syncwarp();
  }
  cells[thread()] = shared[next_thread()]; // races
}

template <bool Bug>
__global__ void mask_of_half_a_warp(int* cells, int*) {
  int* const shared = shared_ints();
  shared[thread()] = cells[thread()]; // races
  __syncwarp(!Bug ? whole_warp : thread() < 16 ? 0xffffu : 0xffff0000u);
  cells[thread()] = shared[next_thread()]; // races
}

// Lanes meet in a shuffle, but it orders no memory.
template <bool Bug>
__global__ void shuffle_as_barrier(int* cells, int*) {
  int* const shared = shared_ints();
  shared[thread()] = cells[thread()]; // races
  const int other = __shfl_xor_sync(whole_warp, thread(), 1);
  if (!Bug) {
    __syncwarp();
  }
  cells[thread()] = shared[other]; // races
}

// Blocks

template <bool Bug>
__global__ void barrier_of_a_block(int* cells, int*) {
  int* to = cells + threads * blocks;
  to[grid_index()] = cells[grid_index()]; // races
  if (Bug) {
    __syncthreads();
  } else {
    cooperative_groups::this_grid().sync();
  }
  cells[grid_index()] = to[(grid_index() + threads) % (threads * blocks)]; // races
}

template <bool Bug>
__global__ void stencil_in_place(int* cells, int*) {
  const int n = threads * blocks;
  const int right = cells[(grid_index() + 1) % n]; // races
  cells[grid_index() + (Bug ? 0 : n)] += right;    // races
}

template <bool Bug>
__global__ void sum_without_atomics(int* cells, int* flags) {
  if (Bug) {
    *flags += cells[grid_index()]; // races
  } else {
    atomicAdd(flags, cells[grid_index()]);
  }
}

template <bool Bug>
__global__ void sum_of_a_block(int* cells, int* flags) {
  if (Bug) {
    atomicAdd_block(flags, cells[grid_index()]); // races
  } else {
    atomicAdd(flags, cells[grid_index()]);
  }
}

// Flags: each block hands its cell to the next one.

enum class Flaw {
  none,
  relaxed_store,
  relaxed_load,
  narrow_store,
  narrow_load,
  flag_before_barrier,
  no_barrier_after_flag,
  a_buffer_too_few
};

template <Flaw flaw>
__global__ void exchange(int* cells, int* flags) {
  constexpr int order_of_store =
      flaw == Flaw::relaxed_store ? __NV_ATOMIC_RELAXED : __NV_ATOMIC_RELEASE;
  constexpr int order_of_load =
      flaw == Flaw::relaxed_load ? __NV_ATOMIC_RELAXED : __NV_ATOMIC_ACQUIRE;
  constexpr int scope_of_store =
      flaw == Flaw::narrow_store ? __NV_THREAD_SCOPE_BLOCK : __NV_THREAD_SCOPE_DEVICE;
  constexpr int scope_of_load =
      flaw == Flaw::narrow_load ? __NV_THREAD_SCOPE_BLOCK : __NV_THREAD_SCOPE_DEVICE;
  int value = thread();
  for (int step = 1; step <= 3; ++step) {
    int* const buffer = cells + (flaw == Flaw::a_buffer_too_few ? 0 : step % 2 * threads * blocks);
    buffer[grid_index()] = value; // races
    if (flaw != Flaw::flag_before_barrier) {
      __syncthreads();
    }
    if (thread() == 0) {
      __nv_atomic_store_n(flags + block(), step, order_of_store, scope_of_store); // races
      // All blocks, so that two buffers are enough.
      for (int other = 0; other < blocks; ++other) {
        while (__nv_atomic_load_n(flags + other, order_of_load, scope_of_load) < step) { // races
        }
      }
    }
    if (flaw != Flaw::no_barrier_after_flag) {
      __syncthreads();
    }
    value += buffer[next_block() * threads + thread()]; // races
  }
}

// Data that are their own flag: a number comes with them, in one access of 16 bytes.
template <bool Bug>
__global__ void plain_packets(int* cells, int*) {
  struct alignas(16) Packet {
    int data[3];
    int number;
  };
  auto* const packets = reinterpret_cast<Packet*>(cells) + threads;
  if (thread() != 0) {
    return;
  }
  Packet sent{{block(), block(), block()}, -1};
  if (Bug) {
    packets[block()] = sent; // races
  } else {
    __nv_atomic_store(packets + block(), &sent, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  Packet found{};
  while (found.number != -1) {
    __nv_atomic_load(packets + next_block(), &found, __NV_ATOMIC_RELAXED, // races
                     __NV_THREAD_SCOPE_DEVICE);
  }
  cells[block()] = found.data[0];
}

enum class Fence { device, block, none };

template <Fence before, Fence after>
__global__ void fences(int* cells, int* flags) {
  const auto fence = [](Fence which) {
    if (which == Fence::device) {
      __threadfence();
    } else if (which == Fence::block) {
      __threadfence_block();
    }
  };
  if (thread() != 0) {
    return;
  }
  cells[block()] = 7; // races
  fence(before);
  atomicExch(flags + block(), 1);
  while (atomicAdd(flags + next_block(), 0) == 0) {
  }
  fence(after);
  cells[threads + block()] = cells[next_block()]; // races
}

// Clusters: each block hands its cells to the next one, through its own shared memory or the
// other's.

template <bool Bug>
__global__ void cluster_reads_early(int* cells, int*) {
  const auto cluster = cooperative_groups::this_cluster();
  int* const shared = shared_ints();
  cluster.sync();
  shared[thread()] = cells[grid_index()]; // races
  if (Bug) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  cells[grid_index()] = cluster.map_shared_rank(shared, next_block())[thread()]; // races
  cluster.sync();
}

template <bool Bug>
__global__ void reads_before_waiting(int* cells, int*) {
  const auto cluster = cooperative_groups::this_cluster();
  int* const shared = shared_ints();
  cluster.sync();
  shared[thread()] = cells[grid_index()]; // races
  cluster.barrier_arrive();
  const int* const others = cluster.map_shared_rank(shared, next_block());
  int value = 0;
  if (Bug) {
    value = others[thread()]; // races
  }
  cluster.barrier_wait();
  if (!Bug) {
    value = others[thread()];
  }
  cells[grid_index()] = value;
  cluster.sync();
}

template <bool Bug>
__global__ void returns_while_read(int* cells, int*) {
  const auto cluster = cooperative_groups::this_cluster();
  int* const shared = shared_ints();
  int* const others = cluster.map_shared_rank(shared, next_block());
  shared[thread()] = cells[grid_index()];
  cluster.sync();
  cells[grid_index()] = others[thread()]; // races
  if (!Bug) {
    cluster.sync();
  }
}

template <bool Bug>
__global__ void writes_before_it_begins(int* cells, int*) {
  const auto cluster = cooperative_groups::this_cluster();
  int* const shared = shared_ints();
  if (!Bug) {
    cluster.sync();
  }
  cluster.map_shared_rank(shared, next_block())[thread()] = 7; // races
  cluster.sync();
  cells[grid_index()] = shared[thread()];
}

// Streams

__global__ void fill(int* cells) {
  cells[thread()] = 7; // races
}
__global__ void shift(const int* from, int* to) {
  to[thread()] = from[next_thread()]; // races
}

struct Streams {
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t event = nullptr;
  int* pinned = nullptr;
  DeviceVector<int> from{counting<int>(threads)};
  DeviceVector<int> to{counting<int>(threads)};

  Streams() {
    check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    check(cudaEventCreate(&event));
    check(cudaMallocHost(&pinned, threads * sizeof(int)));
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    cudaDeviceSynchronize();
    cudaFreeHost(pinned);
    cudaEventDestroy(event);
    cudaStreamDestroy(second);
    cudaStreamDestroy(first);
  }
  void fill_in(cudaStream_t stream) const {
    launch({.grid = 1, .block = threads, .stream = stream}, fill, from.data());
  }
  void shift_in(cudaStream_t stream) const {
    launch({.grid = 1, .block = threads, .stream = stream}, shift, from.data(), to.data());
  }
  /// What comes next in `later` is after what came before in `earlier`.
  void order(cudaStream_t earlier, cudaStream_t later) const {
    check(cudaEventRecord(event, earlier));
    check(cudaStreamWaitEvent(later, event));
  }
};

template <bool Bug>
void no_event() {
  const Streams s;
  s.fill_in(s.first);
  if (!Bug) {
    s.order(s.first, s.second);
  }
  s.shift_in(s.second);
}

template <bool Bug>
void event_too_early() {
  const Streams s;
  if (Bug) {
    s.order(s.first, s.second);
  }
  s.fill_in(s.first);
  if (!Bug) {
    s.order(s.first, s.second);
  }
  s.shift_in(s.second);
}

// Which does not wait for streams that do not block.
template <bool Bug>
void default_stream() {
  const Streams s;
  s.fill_in(s.first);
  if (!Bug) {
    check(cudaStreamSynchronize(s.first));
  }
  s.shift_in(nullptr);
}

template <bool Bug>
void branch_not_joined() {
  const Streams s;
  check(cudaStreamBeginCapture(s.first, cudaStreamCaptureModeThreadLocal));
  s.order(s.first, s.second);
  s.fill_in(s.second);
  if (!Bug) {
    s.order(s.second, s.first);
  }
  s.shift_in(s.first);
  if (Bug) {
    s.order(s.second, s.first); // too late
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamEndCapture(s.first, &graph));
  check(cudaGraphInstantiate(&exec, graph));
  check(cudaGraphLaunch(exec, s.first));
  check(cudaStreamSynchronize(s.first));
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(graph));
}

// The next field is uploaded while the one before is still computed with.
template <bool Bug>
void upload_while_read() {
  const Streams s;
  s.shift_in(s.first);
  if (!Bug) {
    s.order(s.first, s.second);
  }
  check(cudaMemcpyAsync(s.from.data(), s.pinned, threads * sizeof(int), cudaMemcpyHostToDevice,
                        s.second));
}

template <bool Bug>
void download_while_written() {
  const Streams s;
  check(cudaMemcpyAsync(s.pinned, s.from.data(), threads * sizeof(int), cudaMemcpyDeviceToHost,
                        s.second));
  if (!Bug) {
    s.order(s.second, s.first);
  }
  s.fill_in(s.first);
}

#define IN(shape, kernel, ...)                                                           \
  RaceMutant {                                                                           \
#kernel, #kernel,                                                                    \
        [] { run(kernel<false>, shape); }, [] { run(kernel<true>, shape); }, __VA_ARGS__ \
  }
#define EXCHANGE(flaw)                                                                              \
  RaceMutant {                                                                                      \
#flaw, "exchange",                                                                              \
        [] { run(exchange<Flaw::none>, some_blocks); },                                             \
                                                     [] { run(exchange<Flaw::flaw>, some_blocks); } \
  }
#define FENCES(name, before, after)                                                 \
  RaceMutant {                                                                      \
    name, "fences", [] { run(fences<Fence::device, Fence::device>, some_blocks); }, \
        [] { run(fences<Fence::before, Fence::after>, some_blocks); }               \
  }
#define STREAMS(program, kernel, ...) \
  RaceMutant { #program, #kernel, program < false>, program < true>, __VA_ARGS__ }

const RaceMutant mutants[] = {
    IN(one_block, missing_barrier),
    IN(one_block, barrier_after_reading),
    IN(one_block, a_set_too_few),
    IN(one_block, barrier_of_a_warp),
    IN(one_block, neighbour_writes_too),
    IN(one_block, bytes_of_a_word),
    IN(one_warp, missing_warp_barrier),
    IN(one_warp, mask_of_half_a_warp),
    IN(one_warp, shuffle_as_barrier),
    IN(some_blocks, barrier_of_a_block),
    IN(some_blocks, stencil_in_place),
    IN(some_blocks, sum_without_atomics),
    IN(some_blocks, sum_of_a_block),
    IN(some_blocks, plain_packets),
    EXCHANGE(relaxed_store),
    EXCHANGE(relaxed_load),
    EXCHANGE(narrow_store),
    EXCHANGE(narrow_load),
    EXCHANGE(flag_before_barrier),
    EXCHANGE(no_barrier_after_flag),
    EXCHANGE(a_buffer_too_few),
    FENCES("no fence before the flag", none, device),
    FENCES("no fence after the flag", device, none),
    FENCES("fence of a block", block, device),
    IN(one_cluster, cluster_reads_early),
    IN(one_cluster, reads_before_waiting),
    IN(one_cluster, returns_while_read, " returns"),
    IN(one_cluster, writes_before_it_begins, " begins"),
    STREAMS(no_event, shift),
    STREAMS(event_too_early, shift),
    STREAMS(default_stream, shift),
    STREAMS(branch_not_joined, shift),
    STREAMS(upload_while_read, shift, "the copy of call "),
    STREAMS(download_while_written, fill, "the copy of call "),
};

} // namespace

std::span<const RaceMutant> race_mutants() { return mutants; }

} // namespace diffbench::emulation
