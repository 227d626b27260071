// SPDX-License-Identifier: Apache-2.0
// The numbers of one step of an optimizer, in the type of the parameters. Plain data, because files
// that are compiled for an instruction set of their own include it.
#pragma once

namespace diffbench::mlp {

template <typename T>
struct StepFactors {
  bool adam;
  T rate; ///< Adam: over 1 - beta1^t
  T weight_decay;
  T momentum; ///< SGD; 0 in the first step, whose buffer is the gradient itself
  // Adam: beta1, 1 - beta1, beta2, 1 - beta2, sqrt(1 - beta2^t), epsilon.
  T keep1, take1, keep2, take2, root_correction, epsilon;
};

} // namespace diffbench::mlp
