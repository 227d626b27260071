// SPDX-License-Identifier: Apache-2.0
// What changes from step to step while the work, recorded in a graph, stays the same. It lies on
// the device; kernels bring it forward.
#pragma once

#include "step_factors.hpp"

#include <cstdint>

namespace diffbench::mlp::cuda {

/// Since it was last taken. All bytes 0: nothing yet.
struct LossSum {
  double sum;
  std::int64_t steps;
  std::int64_t broken; ///< as Losses::broken
};

template <typename T>
struct StepState {
  LossSum losses;
  std::int64_t next;  ///< where the next batch begins in the order of the rows
  std::int64_t count; ///< of rows in that order
  std::int32_t rows;  ///< of the batch at hand
  /// Whether one of its features is no finite number. The library's ReLU is max(x, 0), which may
  /// make 0 of a NaN: the loss need not show it.
  std::int32_t not_finite;
  double power1; ///< beta1^t after t steps
  double power2;
  StepFactors<T> factors; ///< of the step at hand
};

/// What the optimizer's factors are made of, for kernels.
template <typename T>
struct OptimizerConstants {
  StepFactors<T> factors; ///< but for those that depend on the step
  double rate;
  double beta1;
  double beta2;
};

/// The moments that the optimizer has; null: none.
template <typename T>
struct Moments {
  T* first;
  T* second;
};

} // namespace diffbench::mlp::cuda
