// SPDX-License-Identifier: Apache-2.0
// What the tests of the emulation share: device memory with a host copy, launches, many seeds.
#pragma once

#include "emulation/control.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace diffbench::emulation {

/// Every seed is another schedule; this many make a bug that needs an unlucky one show.
inline constexpr std::uint64_t seeds = 50;

/// Runs a correct program under every seed: nothing may be reported, nothing left behind.
template <typename Body>
void under_every_seed(Body body) {
  for (std::uint64_t seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Settings settings;
    settings.seed = seed;
    reset(settings);
    body();
    EXPECT_EQ(take_reports(), std::vector<std::string>());
    EXPECT_EQ(live_resources(), std::vector<std::string>());
  }
}

inline void check(cudaError_t code) {
  if (code != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorName(code));
  }
}

template <typename T>
class DeviceVector {
 public:
  explicit DeviceVector(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, size * sizeof(T)));
  }
  explicit DeviceVector(const std::vector<T>& values) : DeviceVector(values.size()) {
    check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;
  ~DeviceVector() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  /// Waits for the device.
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> values(size_);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t size_;
  T* data_ = nullptr;
};

struct Shape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  cudaStream_t stream = nullptr;
  dim3 cluster = {1, 1, 1}; ///< of one block: a launch without the attribute
};

template <typename... Parameters, typename... Arguments>
[[nodiscard]] cudaError_t try_launch(const Shape& shape, void (*kernel)(Parameters...),
                                     Arguments&&... arguments) {
  cudaLaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (shape.cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  }
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z != 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

template <typename... Parameters, typename... Arguments>
void launch(const Shape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
  check(try_launch(shape, kernel, std::forward<Arguments>(arguments)...));
}

/// 1, 2, 3, ...
template <typename T>
std::vector<T> counting(std::size_t size) {
  std::vector<T> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = static_cast<T>(i + 1);
  }
  return values;
}

/// The explicit step on a ring of cells, `steps` times: what the stencil kernels here compute.
inline std::vector<float> ring_diffusion(std::vector<float> u, int steps) {
  const std::size_t n = u.size();
  for (int s = 0; s < steps; ++s) {
    const std::vector<float> old = u;
    for (std::size_t i = 0; i < n; ++i) {
      u[i] = old[i] + 0.25f * (old[(i + n - 1) % n] + old[(i + 1) % n] - 2 * old[i]);
    }
  }
  return u;
}

} // namespace diffbench::emulation
