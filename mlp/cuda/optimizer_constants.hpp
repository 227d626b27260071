// SPDX-License-Identifier: Apache-2.0
// The optimizer as kernels have it.
#pragma once

#include "optimizer_step.hpp"
#include "step_state.hpp"

namespace diffbench::mlp::cuda {

template <typename T>
[[nodiscard]] OptimizerConstants<T> constants_of(const Optimizer& optimizer) {
  // Of the second step: in the first the momentum is 0, which moments of 0 make no difference to.
  return {.factors = step_factors<T>(optimizer, 2),
          .rate = optimizer.rate,
          .beta1 = optimizer.beta1,
          .beta2 = optimizer.beta2};
}

} // namespace diffbench::mlp::cuda
