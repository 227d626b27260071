// SPDX-License-Identifier: Apache-2.0
// A batch on a device, as kernels see it.
#pragma once

#include <cstdint>

namespace diffbench::mlp::cuda {

template <typename T>
struct Batch {
  T* features;          ///< [capacity][inputs]
  std::int32_t* labels; ///< [capacity]
  std::int32_t* rows;   ///< how many of them there are
  std::int64_t inputs;
  std::int64_t capacity;
};

/// The rows to train on, and the order in which they come.
template <typename T>
struct ResidentRows {
  const T* features;
  const std::int32_t* labels;
  const std::int32_t* order;
};

/// A layer and a batch: in [rows][inputs], out and delta [rows][outputs], weights
/// [outputs][inputs].
struct LayerShape {
  std::int64_t rows;
  std::int64_t inputs;
  std::int64_t outputs;
};

} // namespace diffbench::mlp::cuda
