// SPDX-License-Identifier: Apache-2.0
// The kernels as the host sees them: addresses to give to gpu::launch. kernels.cu alone is compiled
// by nvcc (kernels/src/kernels.hpp says why).
#pragma once

#include "batch.hpp"
#include "persistent_net.hpp"
#include "step_state.hpp"

#include <cstdint>

namespace diffbench::mlp::cuda {

/// Each is described where it is defined: step_kernels.cuh, plain_products.cuh,
/// persistent_steps.cuh.
template <typename T>
struct NetKernels {
  void (*begin_order)(StepState<T>* state, std::int64_t count);
  void (*gather_batch)(ResidentRows<T> from, Batch<T>, OptimizerConstants<T>, StepState<T>*);
  void (*take_batch)(Batch<T>, OptimizerConstants<T>, StepState<T>*);
  void (*softmax_loss)(const T* outputs, const std::int32_t* labels, std::int64_t capacity,
                       std::int64_t classes, T* delta, double* row_losses, StepState<T>*);
  void (*update_parameters)(T* parameters, const T* gradient, Moments<T>, std::int64_t count,
                            const double* row_losses, StepState<T>*);

  void (*plain_forward)(LayerShape, const T* in, const T* weights, const T* biases, bool relu,
                        T* out);
  void (*plain_input_gradient)(LayerShape, const T* delta, const T* weights, const T* in, T* below);
  void (*plain_weight_gradient)(LayerShape, const T* delta, const T* in, T alpha, T beta, T* out);
  void (*plain_bias_gradient)(LayerShape, const T* delta, T* out);

  void (*persistent_steps)(PersistentNet, PersistentWork<T>, OptimizerConstants<T>);
  void (*persistent_forward)(PersistentNet, PersistentWork<T>);
};

template <typename T>
[[nodiscard]] NetKernels<T> net_kernels();
extern template NetKernels<float> net_kernels();
extern template NetKernels<double> net_kernels();

} // namespace diffbench::mlp::cuda
