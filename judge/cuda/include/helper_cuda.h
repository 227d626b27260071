// SPDX-License-Identifier: Apache-2.0
// In the place of the header of that name of NVIDIA's samples: what programs of courses use of it.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

template <typename T>
void check(T result, const char* call, const char* file, int line) {
  if (result != 0) {
    std::fprintf(stderr, "CUDA error at %s:%d: %s, %s\n", file, line,
                 cudaGetErrorString(static_cast<cudaError_t>(result)), call);
    std::exit(EXIT_FAILURE);
  }
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char* message, const char* file, int line) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "%s(%d): %s: %s\n", file, line, message, cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
  }
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)

inline int findCudaDevice(int, const char**) { return 0; }
