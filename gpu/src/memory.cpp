// SPDX-License-Identifier: Apache-2.0
#include "diffbench/gpu/memory.hpp"

#include "diffbench/gpu/error.hpp"

namespace diffbench::gpu {

namespace detail {

void free_device(void* memory) noexcept { DIFFBENCH_CUDA_LOG(cudaFree(memory)); }
void free_host(void* memory) noexcept { DIFFBENCH_CUDA_LOG(cudaFreeHost(memory)); }
void unregister_host(void* memory) noexcept { DIFFBENCH_CUDA_LOG(cudaHostUnregister(memory)); }

void* allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  DIFFBENCH_CUDA_CHECK(cudaMalloc(&memory, bytes));
  return memory;
}

void* allocate_managed(std::size_t bytes) {
  void* memory = nullptr;
  DIFFBENCH_CUDA_CHECK(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
  return memory;
}

void* allocate_pinned(std::size_t bytes, unsigned flags) {
  void* memory = nullptr;
  DIFFBENCH_CUDA_CHECK(cudaHostAlloc(&memory, bytes, flags));
  return memory;
}

void* address_on_device(void* mapped) {
  void* address = nullptr;
  DIFFBENCH_CUDA_CHECK(cudaHostGetDevicePointer(&address, mapped, 0));
  return address;
}

} // namespace detail

RegisteredRange::RegisteredRange(void* begin, std::size_t bytes) {
  DIFFBENCH_CUDA_CHECK(cudaHostRegister(begin, bytes, cudaHostRegisterDefault));
  begin_ = decltype(begin_)(begin);
}

void copy_to_device(const Stream& stream, void* device, const void* host, std::size_t bytes) {
  DIFFBENCH_CUDA_CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream.get()));
}

void copy_to_host(const Stream& stream, void* host, const void* device, std::size_t bytes) {
  DIFFBENCH_CUDA_CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream.get()));
}

void copy_rows(const Stream& stream, Rows to, ConstRows from, std::size_t row_bytes,
               std::size_t rows, cudaMemcpyKind kind) {
  if (to.pitch == row_bytes && from.pitch == row_bytes) {
    DIFFBENCH_CUDA_CHECK(
        cudaMemcpyAsync(to.begin, from.begin, row_bytes * rows, kind, stream.get()));
  } else {
    DIFFBENCH_CUDA_CHECK(cudaMemcpy2DAsync(to.begin, to.pitch, from.begin, from.pitch, row_bytes,
                                           rows, kind, stream.get()));
  }
}

void fill_bytes(const Stream& stream, void* device, int byte, std::size_t bytes) {
  DIFFBENCH_CUDA_CHECK(cudaMemsetAsync(device, byte, bytes, stream.get()));
}

namespace {

#if CUDART_VERSION >= 13000
void prefetch(const Stream& stream, const void* memory, std::size_t bytes, cudaMemLocation where) {
  DIFFBENCH_CUDA_CHECK(cudaMemPrefetchAsync(memory, bytes, where, 0, stream.get()));
}
#else // a place was a device, or -1 for the host
void prefetch(const Stream& stream, const void* memory, std::size_t bytes, cudaMemLocation where) {
  const int device = where.type == cudaMemLocationTypeDevice ? where.id : cudaCpuDeviceId;
  DIFFBENCH_CUDA_CHECK(cudaMemPrefetchAsync(memory, bytes, device, stream.get()));
}
#endif

} // namespace

void prefetch_to_device(const Stream& stream, const void* managed, std::size_t bytes, int device) {
  prefetch(stream, managed, bytes, {.type = cudaMemLocationTypeDevice, .id = device});
}

void prefetch_to_host(const Stream& stream, const void* managed, std::size_t bytes) {
  prefetch(stream, managed, bytes, {.type = cudaMemLocationTypeHost, .id = 0});
}

} // namespace diffbench::gpu
