// SPDX-License-Identifier: Apache-2.0
// Yardstick for scripts/gpu-check: the best copy rates of the GPU and of its bus, as a JSON file.
// By the runtime alone, without the project's code: a figure of ours is measured against it. By the
// device's clock and of 512 MiB over the bus, as NVIDIA's nvbandwidth does; the best of 20 copies.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "device_copy: %s: %s\n", call, cudaGetErrorString(status));
    std::exit(1);
  }
}

double best_seconds(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  float best = 1e30F;
  for (int run = 0; run < 20; ++run) {
    float milliseconds = 0;
    check(cudaEventRecord(begin), "cudaEventRecord");
    check(cudaMemcpyAsync(to, from, bytes, kind, nullptr), "cudaMemcpyAsync");
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    best = std::min(best, milliseconds);
  }
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  return best * 1e-3;
}

} // namespace

int main(int argc, char** argv) {
  std::FILE* const file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "device_copy: give a file that can be written\n");
    return 2;
  }
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (driver == 0) { // the first call that needs one would blame its version
    std::fprintf(stderr, "device_copy: no NVIDIA driver was found\n");
    return 1;
  }
  constexpr std::size_t device_bytes = std::size_t{1} << 30; // many times any L2 cache
  constexpr std::size_t bus_bytes = std::size_t{512} << 20;
  void* one = nullptr;
  void* two = nullptr;
  void* host = nullptr;
  check(cudaMalloc(&one, device_bytes), "cudaMalloc");
  check(cudaMalloc(&two, device_bytes), "cudaMalloc");
  check(cudaMallocHost(&host, bus_bytes), "cudaMallocHost");
  check(cudaMemset(one, 1, device_bytes), "cudaMemset");

  // What is read and what is written both count, as everywhere in diffbench.
  const double device =
      2.0 * device_bytes / best_seconds(two, one, device_bytes, cudaMemcpyDeviceToDevice);
  const double down = bus_bytes / best_seconds(host, one, bus_bytes, cudaMemcpyDeviceToHost);
  const double up = bus_bytes / best_seconds(one, host, bus_bytes, cudaMemcpyHostToDevice);
  std::fprintf(file, "{\"device_bytes_per_second\": %.6g,\n", device);
  std::fprintf(file, " \"pinned_h2d_bytes_per_second\": %.6g,\n", up);
  std::fprintf(file, " \"pinned_d2h_bytes_per_second\": %.6g}\n", down);
  const bool written = std::fclose(file) == 0;
  check(cudaFreeHost(host), "cudaFreeHost");
  check(cudaFree(two), "cudaFree");
  check(cudaFree(one), "cudaFree");
  return written ? 0 : 1;
}
