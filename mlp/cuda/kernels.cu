// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "persistent_steps.cuh"
#include "plain_products.cuh"
#include "step_kernels.cuh"

namespace diffbench::mlp::cuda {

template <typename T>
NetKernels<T> net_kernels() {
  return {.begin_order = cuda::begin_order<T>,
          .gather_batch = cuda::gather_batch<T>,
          .take_batch = cuda::take_batch<T>,
          .softmax_loss = cuda::softmax_loss<T>,
          .update_parameters = cuda::update_parameters<T>,
          .plain_forward = cuda::plain_forward<T>,
          .plain_input_gradient = cuda::plain_input_gradient<T>,
          .plain_weight_gradient = cuda::plain_weight_gradient<T>,
          .plain_bias_gradient = cuda::plain_bias_gradient<T>,
          .persistent_steps = cuda::persistent_steps<T>,
          .persistent_forward = cuda::persistent_forward<T>};
}

template NetKernels<float> net_kernels();
template NetKernels<double> net_kernels();

} // namespace diffbench::mlp::cuda
