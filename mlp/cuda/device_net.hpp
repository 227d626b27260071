// SPDX-License-Identifier: Apache-2.0
// A network on a CUDA device: its parameters, what a step makes of a batch on the way, and the work
// of a step, issued part by part. Engines decide what of it becomes a graph.
#pragma once

#include "batch.hpp"
#include "cublaslt.hpp"
#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"
#include "diffbench/mlp/engine.hpp"
#include "matmul.hpp"
#include "parameter_layout.hpp"
#include "step_state.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace diffbench::mlp::cuda {

/// Functions named issue_* run nothing: what they issue on the stream runs in its order, and may be
/// captured in a graph.
template <typename T>
class DeviceNet {
 public:
  /// Throws Error when the device has too little memory, CudaError, CublasLtError. Blocks.
  DeviceNet(const gpu::Stream& stream, const Training& training);

  /// Both block. The first starts the optimizer anew.
  void set_parameters(const gpu::Stream& stream, std::span<const T> parameters);
  void get_parameters(const gpu::Stream& stream, std::span<T> parameters);
  /// Blocks; the sum starts again.
  [[nodiscard]] Losses take_losses(const gpu::Stream& stream);

  /// Makes outputs(), for as many rows as a batch can have.
  void issue_forward(const gpu::Stream& stream, const T* features);
  /// The losses and the gradient of the outputs, which is 0 for rows that the batch has not.
  void issue_loss(const gpu::Stream& stream, const std::int32_t* labels);
  /// The gradients of all parameters; with plain SGD the weights are updated at once.
  void issue_backward(const gpu::Stream& stream, const T* features);
  /// What is left of the update.
  void issue_update(const gpu::Stream& stream);

  [[nodiscard]] const T* outputs() const { return layers_.back().activation.data(); }
  [[nodiscard]] StepState<T>* state() const { return state_.data(); }
  [[nodiscard]] const OptimizerConstants<T>& optimizer() const { return optimizer_; }
  /// Which products are the library's, and whether the update is part of them.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> details() const;

 private:
  struct Layer {
    std::int64_t inputs, outputs;
    gpu::DeviceArray<T> activation = {}; ///< [batch][outputs], after ReLU
    gpu::DeviceArray<T> delta = {};      ///< gradient of the outputs before ReLU, likewise
    gpu::DeviceArray<std::uint8_t> mask = {};
    // The library's products; where it has no algorithm, kernels of our own.
    std::optional<Matmul<T>> forward = {}, input_gradient = {}, weight_gradient = {};
    bool bias_gradient_in_product = false; ///< otherwise it needs a kernel
  };

  [[nodiscard]] Layer make_layer(const gpu::Stream& stream, std::int64_t l) const;
  void find_products(const gpu::Stream& stream);
  [[nodiscard]] MatmulShape forward_shape(std::size_t l) const;
  [[nodiscard]] MatmulShape input_gradient_shape(std::size_t l) const;
  [[nodiscard]] MatmulShape weight_gradient_shape(std::size_t l) const;
  void find_hidden_pair(std::size_t l);
  void find_weight_gradient(std::size_t l);

  void issue_input_gradient(const gpu::Stream& stream, std::size_t l);
  void issue_weight_gradient(const gpu::Stream& stream, std::size_t l, const T* features);

  [[nodiscard]] const T* inputs_of(std::size_t l, const T* features) const {
    return l == 0 ? features : layers_[l - 1].activation.data();
  }
  [[nodiscard]] T* weights(const gpu::DeviceArray<T>& all, std::size_t l) const {
    return all.data() + layout_.weights_at(l);
  }
  [[nodiscard]] T* biases(const gpu::DeviceArray<T>& all, std::size_t l) const {
    return all.data() + layout_.biases_at(l);
  }

  Network network_;
  std::int64_t batch_;
  OptimizerConstants<T> optimizer_;
  ParameterLayout layout_;
  bool update_in_product_; ///< plain SGD: W = (1 - rate decay) W - rate dW is one product
  CublasLtHandle handle_;
  gpu::DeviceArray<T> parameters_, gradient_, first_, second_;
  gpu::DeviceArray<double> row_losses_;
  gpu::DeviceArray<StepState<T>> state_;
  std::vector<Layer> layers_;
  gpu::DeviceArray<std::uint8_t> workspace_, side_workspace_;
  gpu::PinnedArray<LossSum> losses_;
  // Weight gradients beside the chain of input gradients.
  std::vector<gpu::Event> delta_ready_;
  gpu::Event weights_done_{gpu::Event::Timing::off};
  gpu::Stream side_;
};

} // namespace diffbench::mlp::cuda
