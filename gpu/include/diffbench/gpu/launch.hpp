// SPDX-License-Identifier: Apache-2.0
// Kernel launches through cudaLaunchKernelEx: no chevrons, so that a host compiler can read the
// code.
#pragma once

#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/error.hpp"
#include "diffbench/gpu/stream.hpp"

#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

namespace diffbench::gpu {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0; ///< dynamic shared memory a block
  bool cooperative = false;     ///< all blocks resident at once; grid-wide barriers allowed
  unsigned cluster = 1;         ///< blocks of a cluster, along x; divides the grid
};

namespace detail {

/// A launch as the runtime wants it described. It keeps addresses of its own parts.
class LaunchConfig {
 public:
  explicit LaunchConfig(const LaunchShape& shape, cudaStream_t stream = nullptr) {
    config_.gridDim = shape.grid;
    config_.blockDim = shape.block;
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_;
    if (shape.cooperative) {
      cudaLaunchAttribute& cooperative = attributes_[config_.numAttrs++];
      cooperative.id = cudaLaunchAttributeCooperative;
      cooperative.val.cooperative = 1;
    }
    if (shape.cluster > 1) {
      cudaLaunchAttribute& cluster = attributes_[config_.numAttrs++];
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim = {shape.cluster, 1, 1};
    }
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;

  [[nodiscard]] const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchAttribute attributes_[2]{};
  cudaLaunchConfig_t config_{};
};

} // namespace detail

/// Launches in stream order; does not block. Throws CudaError for what the launch itself refuses;
/// errors while the kernel runs are thrown by a later synchronisation.
template <typename... Parameters, typename... Arguments>
void launch(const Stream& stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  const detail::LaunchConfig config(shape, stream.get());
  DIFFBENCH_CUDA_CHECK(
      cudaLaunchKernelEx(config.get(), kernel, std::forward<Arguments>(arguments)...));
}

/// Lets `kernel`, which has no other shared memory, use all the dynamic shared memory that `device`
/// gives a block; beyond 48 KiB it must be asked for. Always all of it: the limit belongs to the
/// kernel, and another session's launches need theirs.
template <typename... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), const Device& device) {
  DIFFBENCH_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(device.shared_bytes_per_block)));
}

/// The architecture whose features the code of `kernel` has on the current device, 90 for sm_90: on
/// a newer card it may be compiled from the PTX of an older one.
template <typename... Parameters>
[[nodiscard]] int code_architecture(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes{};
  DIFFBENCH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  return attributes.ptxVersion;
}

/// Lets `kernel` be launched in clusters of more than 8 blocks, where the current device can.
template <typename... Parameters>
void allow_large_clusters(void (*kernel)(Parameters...)) {
  DIFFBENCH_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                            cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

/// How many clusters of `shape` the current device holds at once; 0: none. The device must have
/// clusters.
template <typename... Parameters>
[[nodiscard]] int resident_clusters(void (*kernel)(Parameters...), const LaunchShape& shape) {
  int clusters = 0;
  const detail::LaunchConfig config(shape);
  const cudaError_t status = cudaOccupancyMaxActiveClusters(
      &clusters, reinterpret_cast<const void*>(kernel), config.get());
  for (const cudaError_t none : {cudaErrorInvalidClusterSize, cudaErrorInvalidValue,
                                 cudaErrorInvalidConfiguration, cudaErrorNotSupported}) {
    if (status == none) { // larger than this card has them; not all cards say so alike
      (void)cudaGetLastError();
      return 0;
    }
  }
  DIFFBENCH_CUDA_CHECK(status);
  return clusters;
}

/// How many blocks of `shape` a multiprocessor of the current device holds at once; 0: none.
template <typename... Parameters>
[[nodiscard]] int resident_blocks(void (*kernel)(Parameters...), const LaunchShape& shape) {
  int blocks = 0;
  DIFFBENCH_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, reinterpret_cast<const void*>(kernel),
      static_cast<int>(shape.block.x * shape.block.y * shape.block.z), shape.shared_bytes));
  return blocks;
}

} // namespace diffbench::gpu
