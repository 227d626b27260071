// SPDX-License-Identifier: Apache-2.0
// What programs of courses ask a card for besides: other devices, preferences, sizes that fit.
#pragma once

#include "emulation/host_api.h"

enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3,
};
enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
};
inline constexpr unsigned cudaDeviceScheduleAuto = 0;
inline constexpr unsigned cudaDeviceScheduleSpin = 1;
inline constexpr unsigned cudaDeviceScheduleYield = 2;
inline constexpr unsigned cudaDeviceScheduleBlockingSync = 4;
inline constexpr unsigned cudaDeviceMapHost = 8;

// One device, which reaches no other one.
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                       cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

// Preferences, which change nothing here.
template <typename Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
template <typename T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, std::size_t = 0,
                                     unsigned = 4 /* cudaMemAttachSingle */) {
  return cudaSuccess;
}
inline constexpr unsigned cudaMemAttachSingle = 4;
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}

template <typename... P>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* block_size, void (*kernel)(P...),
                                               std::size_t shared_bytes = 0, int limit = 0) {
  cudaFuncAttributes attributes;
  int of_one = 0, multiprocessors = 0;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  *block_size = limit > 0 && limit < attributes.maxThreadsPerBlock ? limit
                                                                   : attributes.maxThreadsPerBlock;
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel, *block_size,
                                                          shared_bytes);
  }
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *blocks = of_one * multiprocessors;
  return error;
}
