// Many steps of a small network in one cooperative launch: weights and moments stay in the shared
// memory of the blocks, values and gradients of a batch pass between them through global memory
// (which is L2), with a barrier after each layer. Values lie [feature][row of the batch], so that
// neighbouring threads read neighbouring rows.
//
// Values of a step lie apart from those of the next one (`turn`): a block may then begin a step
// while another still needs what the last one left, and no barrier ends a step.
#pragma once

#include "diffbench/gpu/dynamic_shared.cuh"
#include "persistent_net.hpp"
#include "step_kernels.cuh"

#include <cooperative_groups.h>

namespace diffbench::mlp::cuda {

template <typename T>
class PersistentBlock {
 public:
  __device__ PersistentBlock(const PersistentNet& net, const PersistentWork<T>& work)
      : net_(net),
        work_(work),
        block_(static_cast<int>(blockIdx.x)),
        shared_(static_cast<T*>(gpu::dynamic_shared())) {}

  /// Parameters into shared memory; moments too.
  __device__ void load() {
    each_own([&](std::int32_t at, std::int64_t parameter) {
      shared_[at] = work_.parameters[parameter];
      if (net_.momentum) {
        shared_[net_.slice_size + at] = work_.moments.first[parameter];
      }
      if (net_.adam) {
        shared_[2 * net_.slice_size + at] = work_.moments.second[parameter];
      }
    });
    __syncthreads();
  }

  /// And back. Weights that two blocks have are the same in both, to the last bit.
  __device__ void store() {
    each_own([&](std::int32_t at, std::int64_t parameter) {
      work_.parameters[parameter] = shared_[at];
      if (net_.momentum) {
        work_.moments.first[parameter] = shared_[net_.slice_size + at];
      }
      if (net_.adam) {
        work_.moments.second[parameter] = shared_[2 * net_.slice_size + at];
      }
    });
  }

  /// This block's share of the features of the batch that begins at `begin`.
  __device__ void gather(std::int64_t begin, int turn) {
    const std::int32_t rows = rows_from(begin);
    const std::int32_t inputs = net_.widths[0];
    T* const to = values(0, turn);
    for (std::int32_t i = block_ * size() + thread(); i < rows * inputs;
         i += net_.blocks * size()) {
      const std::int32_t row = i / inputs;
      const std::int32_t input = i % inputs;
      to[input * net_.batch + row] = work_.rows.features[row_at(begin + row) * inputs + input];
    }
  }

  __device__ std::int32_t rows_from(std::int64_t begin) const {
    const std::int64_t left = work_.count - begin;
    return left < net_.batch ? static_cast<std::int32_t>(left) : net_.batch;
  }

  /// The own outputs of a layer.
  __device__ void forward(int layer, std::int32_t rows, int turn) {
    const std::int32_t inputs = net_.widths[layer];
    const T* const in = values(layer, turn);
    T* const out = values(layer + 1, turn);
    const bool relu = layer + 1 < net_.layers;
    const std::int32_t own = own_count(net_.widths[layer + 1]);
    for (std::int32_t i = thread(); i < own * rows; i += size()) {
      const std::int32_t row = i % rows;
      const T* const weights = shared_ + net_.rows_at[layer] + i / rows * inputs;
      T sum = shared_[net_.slice_biases_at[layer] + i / rows];
      for (std::int32_t k = 0; k < inputs; ++k) {
        sum = fma(weights[k], in[k * net_.batch + row], sum);
      }
      // A NaN stays one, as in PyTorch.
      out[own_index(i / rows) * net_.batch + row] = relu && sum < T(0) ? T(0) : sum;
    }
  }

  /// The gradient of all outputs, into every block's own memory; block 0 counts the loss.
  __device__ void softmax_loss(std::int64_t begin, std::int32_t rows, int turn) {
    const T* const outputs = values(net_.layers, turn);
    const std::int32_t classes = net_.widths[net_.layers];
    T* const delta = shared_ + net_.delta_at;
    double loss = 0;
    for (std::int32_t row = thread(); row < rows; row += size()) {
      T largest = outputs[row];
      for (std::int32_t c = 1; c < classes; ++c) {
        const T output = outputs[c * net_.batch + row];
        largest = output > largest ? output : largest;
      }
      T sum = T(0);
      for (std::int32_t c = 0; c < classes; ++c) {
        sum += delta[c * net_.batch + row] = exp(outputs[c * net_.batch + row] - largest);
      }
      const T share = T(1) / static_cast<T>(rows);
      for (std::int32_t c = 0; c < classes; ++c) {
        delta[c * net_.batch + row] *= share / sum;
      }
      const std::int32_t label = work_.rows.labels[row_at(begin + row)];
      delta[label * net_.batch + row] -= share;
      loss += static_cast<double>(log(sum) - (outputs[label * net_.batch + row] - largest));
    }
    if (block_ == 0) {
      row_losses()[thread()] = loss;
    }
    __syncthreads();
    if (block_ == 0 && thread() == 0) {
      count_loss();
    }
  }

  /// The gradient of the own inputs of a layer, before their ReLU.
  __device__ void input_gradient(int layer, std::int32_t rows, int turn) {
    const std::int32_t outputs = net_.widths[layer + 1];
    const T* const delta = delta_of(layer, turn);
    const T* const in = values(layer, turn);
    T* const below = deltas(layer, turn);
    const std::int32_t own = own_count(net_.widths[layer]);
    for (std::int32_t i = thread(); i < own * rows; i += size()) {
      const std::int32_t row = i % rows;
      const std::int32_t at = own_index(i / rows) * net_.batch + row;
      const T* const weights = shared_ + net_.columns_at[layer] + i / rows * outputs;
      T sum = T(0);
      for (std::int32_t o = 0; o < outputs; ++o) {
        sum = fma(weights[o], delta[o * net_.batch + row], sum);
      }
      below[at] = in[at] > T(0) ? sum : T(0);
    }
  }

  /// Gradient and update of the own weights, both copies by the same code: they must stay the same.
  __device__ void update(int layer, std::int32_t rows, int turn, const StepFactors<T>& factors) {
    const std::int32_t inputs = net_.widths[layer];
    const std::int32_t outputs = net_.widths[layer + 1];
    const T* const delta = delta_of(layer, turn);
    const T* const in = values(layer, turn);
    const std::int32_t by_output = own_count(outputs) * inputs;
    const std::int32_t by_input = layer == 0 ? 0 : own_count(inputs) * outputs;
    for (std::int32_t i = thread(); i < by_output + by_input; i += size()) {
      const bool first = i < by_output;
      const std::int32_t j = first ? i : i - by_output;
      const std::int32_t output = first ? own_index(j / inputs) : j % outputs;
      const std::int32_t input = first ? j % inputs : own_index(j / outputs);
      T gradient = T(0);
      for (std::int32_t row = 0; row < rows; ++row) {
        gradient = fma(delta[output * net_.batch + row], in[input * net_.batch + row], gradient);
      }
      update_own((first ? net_.rows_at[layer] : net_.columns_at[layer]) + j, gradient, factors);
    }
    for (std::int32_t j = thread(); j < own_count(outputs); j += size()) {
      T gradient = T(0);
      for (std::int32_t row = 0; row < rows; ++row) {
        gradient += delta[own_index(j) * net_.batch + row];
      }
      update_own(net_.slice_biases_at[layer] + j, gradient, factors);
    }
  }

  /// Between all blocks; what they wrote to global memory is then seen.
  __device__ void barrier() {
    if (net_.blocks == 1) {
      __syncthreads();
    } else {
      cooperative_groups::this_grid().sync();
    }
  }

 private:
  __device__ static std::int32_t thread() { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ static std::int32_t size() { return static_cast<std::int32_t>(blockDim.x); }

  /// How many of `width` are this block's, and which the j-th is.
  __device__ std::int32_t own_count(std::int32_t width) const {
    return (width - block_ + net_.blocks - 1) / net_.blocks;
  }
  __device__ std::int32_t own_index(std::int32_t j) const { return block_ + j * net_.blocks; }

  __device__ std::int64_t row_at(std::int64_t position) const {
    return work_.rows.order == nullptr ? position : work_.rows.order[position];
  }
  __device__ T* values(int layer, int turn) const {
    return work_.values + turn * net_.values_size + net_.values_at[layer];
  }
  __device__ T* deltas(int layer, int turn) const {
    return work_.deltas + turn * net_.values_size + net_.values_at[layer];
  }
  /// Of a layer's outputs.
  __device__ const T* delta_of(int layer, int turn) const {
    return layer + 1 == net_.layers ? shared_ + net_.delta_at : deltas(layer + 1, turn);
  }
  /// Behind everything else: one for each thread.
  __device__ double* row_losses() const {
    return reinterpret_cast<double*>(shared_ + (net_.shared_size + 1) / 2 * 2);
  }

  /// visit(where in shared memory, which parameter) for all that this block has.
  template <typename Visit>
  __device__ void each_own(Visit visit) const {
    for (int l = 0; l < net_.layers; ++l) {
      const std::int32_t inputs = net_.widths[l];
      const std::int32_t outputs = net_.widths[l + 1];
      for (std::int32_t i = thread(); i < own_count(outputs) * inputs; i += size()) {
        visit(net_.rows_at[l] + i,
              net_.weights_at[l] + std::int64_t{own_index(i / inputs)} * inputs + i % inputs);
      }
      for (std::int32_t i = thread(); l > 0 && i < own_count(inputs) * outputs; i += size()) {
        visit(net_.columns_at[l] + i,
              net_.weights_at[l] + std::int64_t{i % outputs} * inputs + own_index(i / outputs));
      }
      for (std::int32_t i = thread(); i < own_count(outputs); i += size()) {
        visit(net_.slice_biases_at[l] + i, net_.biases_at[l] + own_index(i));
      }
    }
  }

  __device__ void update_own(std::int32_t at, T gradient, const StepFactors<T>& factors) {
    const Moments<T> moments = {net_.momentum ? shared_ + net_.slice_size : nullptr,
                                net_.adam ? shared_ + 2 * net_.slice_size : nullptr};
    shared_[at] = updated(factors, shared_[at], gradient, moments, std::int64_t{at});
  }

  __device__ void count_loss() {
    double sum = 0;
    for (std::int32_t i = 0; i < size(); ++i) {
      sum += row_losses()[i];
    }
    add_loss(sum, work_.state->losses);
  }

  const PersistentNet& net_;
  const PersistentWork<T>& work_;
  int block_;
  T* shared_;
};

/// The steps of an order of rows, one for each batch.
template <typename T>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_steps(const __grid_constant__ PersistentNet net,
                     const __grid_constant__ PersistentWork<T> work,
                     const __grid_constant__ OptimizerConstants<T> optimizer) {
  PersistentBlock<T> block(net, work);
  block.load();
  block.gather(0, 0);
  // Every thread keeps the optimizer's state for itself.
  StepState<T> state = *work.state;
  block.barrier();
  int turn = 0;
  for (std::int64_t begin = 0; begin < work.count; begin += net.batch, turn = 1 - turn) {
    const std::int32_t rows = block.rows_from(begin);
    begin_step(optimizer, state, rows);
    for (int layer = 0; layer < net.layers; ++layer) {
      block.forward(layer, rows, turn);
      block.barrier();
      if (layer == 0 && begin + net.batch < work.count) {
        block.gather(begin + net.batch, 1 - turn); // all have done the step that used that place
      }
    }
    block.softmax_loss(begin, rows, turn);
    for (int layer = net.layers - 1; layer >= 0; --layer) {
      if (layer > 0) {
        block.input_gradient(layer, rows, turn);
        __syncthreads(); // the update writes the weights that this reads
      }
      block.update(layer, rows, turn, state.factors);
      if (layer > 0 || net.layers == 1) {
        block.barrier();
      }
    }
    __syncthreads(); // the next step reads the weights of layer 0
  }
  block.store();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    work.state->power1 = state.power1;
    work.state->power2 = state.power2;
  }
}

/// The outputs for the first batch of the rows, to the values of the last layer, turn 0.
template <typename T>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_forward(const __grid_constant__ PersistentNet net,
                       const __grid_constant__ PersistentWork<T> work) {
  PersistentBlock<T> block(net, work);
  block.load();
  block.gather(0, 0);
  block.barrier();
  for (int layer = 0; layer < net.layers; ++layer) {
    block.forward(layer, block.rows_from(0), 0);
    block.barrier();
  }
}

} // namespace diffbench::mlp::cuda
