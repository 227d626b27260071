// SPDX-License-Identifier: Apache-2.0
// The products of a step with one thread for each number of the result: for shapes that the library
// has no algorithm for. Such shapes are tiny.
#pragma once

#include "step_kernels.cuh"

#include <cuda_runtime.h>

namespace diffbench::mlp::cuda {

template <typename T>
__global__ void plain_forward(LayerShape shape, const T* in, const T* weights, const T* biases,
                              bool relu, T* out) {
  const std::int64_t i = thread_index();
  if (i >= shape.rows * shape.outputs) {
    return;
  }
  const T* const row = in + i / shape.outputs * shape.inputs;
  const std::int64_t output = i % shape.outputs;
  T sum = T(0);
  for (std::int64_t k = 0; k < shape.inputs; ++k) {
    sum += weights[output * shape.inputs + k] * row[k];
  }
  sum += biases[output];
  // A NaN stays one, as in PyTorch.
  out[i] = relu && sum < T(0) ? T(0) : sum;
}

/// The gradient of the layer's inputs before their ReLU: `in` says where that let pass.
template <typename T>
__global__ void plain_input_gradient(LayerShape shape, const T* delta, const T* weights,
                                     const T* in, T* below) {
  const std::int64_t i = thread_index();
  if (i >= shape.rows * shape.inputs) {
    return;
  }
  const T* const row = delta + i / shape.inputs * shape.outputs;
  const std::int64_t input = i % shape.inputs;
  T sum = T(0);
  for (std::int64_t o = 0; o < shape.outputs; ++o) {
    sum += row[o] * weights[o * shape.inputs + input];
  }
  below[i] = in[i] > T(0) ? sum : T(0);
}

/// out = alpha delta' in + beta out, as the library's products do it.
template <typename T>
__global__ void plain_weight_gradient(LayerShape shape, const T* delta, const T* in, T alpha,
                                      T beta, T* out) {
  const std::int64_t i = thread_index();
  if (i >= shape.outputs * shape.inputs) {
    return;
  }
  const std::int64_t output = i / shape.inputs;
  const std::int64_t input = i % shape.inputs;
  T sum = T(0);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    sum += delta[row * shape.outputs + output] * in[row * shape.inputs + input];
  }
  out[i] = alpha * sum + (beta == T(0) ? T(0) : beta * out[i]); // what is there may be no number
}

template <typename T>
__global__ void plain_bias_gradient(LayerShape shape, const T* delta, T* out) {
  const std::int64_t output = thread_index();
  if (output >= shape.outputs) {
    return;
  }
  T sum = T(0);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    sum += delta[row * shape.outputs + output];
  }
  out[output] = sum;
}

} // namespace diffbench::mlp::cuda
