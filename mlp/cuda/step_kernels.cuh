// SPDX-License-Identifier: Apache-2.0
// The parts of a training step that are no matrix products: bringing a batch into place, softmax
// and loss, the optimizer.
#pragma once

#include "batch.hpp"
#include "step_state.hpp"

#include <cuda_runtime.h>

namespace diffbench::mlp::cuda {

__device__ inline std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// By one thread: the state moves on to a step on `rows` rows.
template <typename T>
__device__ void begin_step(const OptimizerConstants<T>& optimizer, StepState<T>& state,
                           std::int32_t rows) {
  state.rows = rows;
  state.factors = optimizer.factors;
  if (optimizer.factors.adam) {
    state.power1 *= optimizer.beta1;
    state.power2 *= optimizer.beta2;
    state.factors.rate = static_cast<T>(optimizer.rate / (1 - state.power1));
    state.factors.root_correction = static_cast<T>(sqrt(1 - state.power2));
  }
}

/// Sets where the order of the rows begins, and how many there are.
template <typename T>
__global__ void begin_order(StepState<T>* state, std::int64_t count) {
  state->next = 0;
  state->count = count;
}

template <typename T>
__device__ void place_feature(const Batch<T>& batch, std::int64_t i, T feature,
                              StepState<T>& state) {
  batch.features[i] = feature;
  if (!isfinite(feature)) {
    state.not_finite = 1;
  }
}

/// The next rows of the order; one thread for each feature of a full batch. Missing rows become 0,
/// so that nothing of an earlier batch, which need not be finite, is left in them.
template <typename T>
__global__ void gather_batch(ResidentRows<T> from, Batch<T> batch, OptimizerConstants<T> optimizer,
                             StepState<T>* state) {
  const std::int64_t begin = state->next;
  const std::int64_t left = state->count - begin;
  const std::int64_t rows = left < batch.capacity ? left : batch.capacity;
  const std::int64_t i = thread_index();
  if (i < batch.capacity * batch.inputs) {
    const std::int64_t row = i / batch.inputs;
    place_feature(batch, i,
                  row < rows
                      ? from.features[from.order[begin + row] * batch.inputs + i % batch.inputs]
                      : T(0),
                  *state);
  }
  if (i < batch.capacity) {
    batch.labels[i] = i < rows ? from.labels[from.order[begin + i]] : 0;
  }
  if (i == 0) {
    begin_step(optimizer, *state, static_cast<std::int32_t>(rows));
  }
}

/// The same for a batch that the host has sent.
template <typename T>
__global__ void take_batch(Batch<T> batch, OptimizerConstants<T> optimizer, StepState<T>* state) {
  const std::int32_t rows = *batch.rows;
  const std::int64_t i = thread_index();
  if (i < batch.capacity * batch.inputs) {
    place_feature(batch, i, i < rows * batch.inputs ? batch.features[i] : T(0), *state);
  }
  if (i >= rows && i < batch.capacity) {
    batch.labels[i] = 0;
  }
  if (i == 0) {
    begin_step(optimizer, *state, rows);
  }
}

/// Softmax cross-entropy, a thread a row: the row's loss, and the gradient of the batch's mean loss
/// with respect to the outputs; 0 for missing rows.
template <typename T>
__global__ void softmax_loss(const T* outputs, const std::int32_t* labels, std::int64_t capacity,
                             std::int64_t classes, T* delta, double* row_losses,
                             StepState<T>* state) {
  const std::int64_t row = thread_index();
  const std::int32_t rows = state->rows;
  if (row == 0) {
    state->next += rows; // which no other thread of this kernel reads
  }
  if (row >= capacity) {
    return;
  }
  const T* const output = outputs + row * classes;
  T* const gradient = delta + row * classes;
  if (row >= rows) {
    for (std::int64_t c = 0; c < classes; ++c) {
      gradient[c] = T(0);
    }
    row_losses[row] = 0;
    return;
  }
  T largest = output[0];
  for (std::int64_t c = 1; c < classes; ++c) {
    largest = output[c] > largest ? output[c] : largest;
  }
  T sum = T(0);
  for (std::int64_t c = 0; c < classes; ++c) {
    gradient[c] = exp(output[c] - largest);
    sum += gradient[c];
  }
  const T share = T(1) / static_cast<T>(rows);
  for (std::int64_t c = 0; c < classes; ++c) {
    gradient[c] *= share / sum;
  }
  gradient[labels[row]] -= share;
  row_losses[row] = static_cast<double>(log(sum) - (output[labels[row]] - largest));
}

/// The new value of a parameter: torch.optim.SGD and Adam, as OptimizerState does it on the host.
template <typename T>
__device__ T updated(const StepFactors<T>& f, T parameter, T gradient, Moments<T> moments,
                     std::int64_t i) {
  gradient += f.weight_decay * parameter;
  if (f.adam) {
    const T first = moments.first[i] = f.keep1 * moments.first[i] + f.take1 * gradient;
    const T second = moments.second[i] =
        f.keep2 * moments.second[i] + f.take2 * gradient * gradient;
    return parameter - f.rate * first / (sqrt(second) / f.root_correction + f.epsilon);
  }
  if (moments.first != nullptr) {
    gradient = moments.first[i] = f.momentum * moments.first[i] + gradient;
  }
  return parameter - f.rate * gradient;
}

/// Counts a step whose rows have lost `sum`.
__device__ inline void add_loss(double sum, LossSum& losses) {
  ++losses.steps;
  losses.sum += sum;
  if (losses.broken == 0 && !isfinite(sum)) {
    losses.broken = losses.steps;
  }
}

/// Adds the losses of a step's rows up, always in the same order, by the lanes of one warp.
template <typename T>
__device__ void add_losses(const double* row_losses, StepState<T>& state) {
  const int lane = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (std::int32_t row = lane; row < state.rows; row += 32) {
    sum += row_losses[row];
  }
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  }
  if (lane == 0) {
    add_loss(state.not_finite == 0 ? sum : NAN, state.losses);
    state.not_finite = 0;
  }
}

/// Parameters [0, count), a thread each; the first warp also adds the losses up.
template <typename T>
__global__ void update_parameters(T* parameters, const T* gradient, Moments<T> moments,
                                  std::int64_t count, const double* row_losses,
                                  StepState<T>* state) {
  const std::int64_t i = thread_index();
  if (i < count) {
    parameters[i] = updated(state->factors, parameters[i], gradient[i], moments, i);
  }
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    add_losses(row_losses, *state);
  }
}

} // namespace diffbench::mlp::cuda
