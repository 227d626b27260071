// SPDX-License-Identifier: Apache-2.0
#include "diffbench/gpu/copy_kernel.hpp"

#include "diffbench/gpu/launch.hpp"

#include <algorithm>

namespace diffbench::gpu {

/// 16 bytes a thread at a time.
static __global__ void copy_words(const int4* from, int4* to, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

void copy_by_kernel(const Stream& stream, void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t threads = 256;
  const std::size_t words = bytes / sizeof(int4);
  // Some blocks on each multiprocessor keep enough requests under way to fill the bus.
  const std::size_t blocks = std::min<std::size_t>((words + threads - 1) / threads, 1024);
  launch(stream, {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(threads)}, copy_words,
         static_cast<const int4*>(from), static_cast<int4*>(to), static_cast<long long>(words));
}

} // namespace diffbench::gpu
