// SPDX-License-Identifier: Apache-2.0
#include "device_net.hpp"

#include "device_memory.hpp"
#include "diffbench/gpu/launch.hpp"
#include "kernels.hpp"
#include "launch_shape.hpp"
#include "optimizer_constants.hpp"

#include <string>
#include <utility>

namespace diffbench::mlp::cuda {

namespace {

/// What the library may ask for in a product; its manual names 32 MiB for Hopper.
constexpr std::size_t most_workspace = std::size_t{32} << 20;

bool needs_moments(const Optimizer& optimizer) {
  return optimizer.kind == Optimizer::Kind::adam || optimizer.momentum != 0;
}

} // namespace

template <typename T>
DeviceNet<T>::DeviceNet(const gpu::Stream& stream, const Training& training)
    : network_(training.network),
      batch_(training.batch),
      optimizer_(constants_of<T>(training.optimizer)),
      layout_(network_),
      update_in_product_(!needs_moments(training.optimizer)),
      handle_(make_cublaslt_handle()),
      parameters_(zeros<T>(stream, layout_.size())),
      gradient_(zeros<T>(stream, layout_.size())),
      first_(zeros<T>(stream, update_in_product_ ? 0 : layout_.size())),
      second_(zeros<T>(stream, optimizer_.factors.adam ? layout_.size() : 0)),
      row_losses_(zeros<double>(stream, batch_)),
      state_(zeros<StepState<T>>(stream, 1)),
      losses_(1) {
  for (std::int64_t l = 0; l < network_.layers(); ++l) {
    layers_.push_back(make_layer(stream, l));
    delta_ready_.emplace_back(gpu::Event::Timing::off);
  }
  find_products(stream);
  stream.synchronize();
}

template <typename T>
typename DeviceNet<T>::Layer DeviceNet<T>::make_layer(const gpu::Stream& stream,
                                                      std::int64_t l) const {
  Layer layer{.inputs = network_.inputs(l), .outputs = network_.outputs(l)};
  layer.activation = zeros<T>(stream, batch_ * layer.outputs);
  layer.delta = zeros<T>(stream, batch_ * layer.outputs);
  if (l + 1 < network_.layers()) {
    layer.mask = zeros<std::uint8_t>(stream, mask_bytes(layer.outputs, batch_));
  }
  return layer;
}

// The library's matrices are column-major, so a batch [rows][features] is to it features x rows,
// and weights [outputs][inputs] are inputs x outputs.

template <typename T>
MatmulShape DeviceNet<T>::forward_shape(std::size_t l) const {
  const Layer& layer = layers_[l];
  const bool hidden = l + 1 < layers_.size();
  return {.rows = layer.outputs,
          .columns = batch_,
          .depth = layer.inputs,
          .left_transposed = true,
          .epilogue = hidden ? Epilogue::relu_bias_mask : Epilogue::bias,
          .bias = biases(parameters_, l),
          .mask = layer.mask.data()};
}

template <typename T>
MatmulShape DeviceNet<T>::input_gradient_shape(std::size_t l) const {
  const Layer& layer = layers_[l];
  return {.rows = layer.inputs,
          .columns = batch_,
          .depth = layer.outputs,
          .epilogue = Epilogue::relu_gradient,
          .bias = biases(gradient_, l - 1),
          .mask = layers_[l - 1].mask.data()};
}

template <typename T>
MatmulShape DeviceNet<T>::weight_gradient_shape(std::size_t l) const {
  const Layer& layer = layers_[l];
  return {
      .rows = layer.inputs, .columns = layer.outputs, .depth = batch_, .right_transposed = true};
}

template <typename T>
void DeviceNet<T>::find_products(const gpu::Stream& stream) {
  const std::size_t last = layers_.size() - 1;
  layers_[last].forward = Matmul<T>::find(handle_, forward_shape(last), most_workspace);
  for (std::size_t l = 0; l <= last; ++l) {
    if (l < last) {
      find_hidden_pair(l);
    }
    find_weight_gradient(l);
  }
  std::size_t need = 0;
  std::size_t side_need = 0;
  for (const Layer& layer : layers_) {
    for (const auto* product : {&layer.forward, &layer.input_gradient}) {
      need = std::max(need, *product ? (*product)->workspace_bytes() : 0);
    }
    side_need =
        std::max(side_need, layer.weight_gradient ? layer.weight_gradient->workspace_bytes() : 0);
  }
  workspace_ = zeros<std::uint8_t>(stream, static_cast<std::int64_t>(need));
  side_workspace_ = zeros<std::uint8_t>(stream, static_cast<std::int64_t>(side_need));
}

// The format of the mask is the library's own: who writes it and who reads it are both the
// library's, or neither is.
template <typename T>
void DeviceNet<T>::find_hidden_pair(std::size_t l) {
  auto forward = Matmul<T>::find(handle_, forward_shape(l), most_workspace);
  auto gradient = Matmul<T>::find(handle_, input_gradient_shape(l + 1), most_workspace);
  if (forward && gradient) {
    layers_[l].forward = std::move(forward);
    layers_[l + 1].input_gradient = std::move(gradient);
    layers_[l].bias_gradient_in_product = true;
  }
}

template <typename T>
void DeviceNet<T>::find_weight_gradient(std::size_t l) {
  Layer& layer = layers_[l];
  MatmulShape shape = weight_gradient_shape(l);
  if (l + 1 == layers_.size()) {
    MatmulShape with_biases = shape;
    with_biases.epilogue = Epilogue::sums_of_right;
    with_biases.bias = biases(gradient_, l);
    layer.weight_gradient = Matmul<T>::find(handle_, with_biases, most_workspace);
    layer.bias_gradient_in_product = layer.weight_gradient.has_value();
  }
  if (!layer.weight_gradient) {
    layer.weight_gradient = Matmul<T>::find(handle_, shape, most_workspace);
  }
}

template <typename T>
void DeviceNet<T>::set_parameters(const gpu::Stream& stream, std::span<const T> parameters) {
  std::vector<T> spread(static_cast<std::size_t>(layout_.size()), T{0});
  layout_.spread(parameters.data(), spread.data());
  const std::size_t bytes = spread.size() * sizeof(T);
  gpu::copy_to_device(stream, parameters_.data(), spread.data(), bytes);
  for (const auto* moment : {&first_, &second_}) {
    if (moment->size() != 0) {
      gpu::fill_bytes(stream, moment->data(), 0, bytes);
    }
  }
  StepState<T> state{};
  state.power1 = state.power2 = 1;
  gpu::copy_to_device(stream, state_.data(), &state, sizeof state);
  stream.synchronize();
}

template <typename T>
void DeviceNet<T>::get_parameters(const gpu::Stream& stream, std::span<T> parameters) {
  std::vector<T> spread(static_cast<std::size_t>(layout_.size()));
  gpu::copy_to_host(stream, spread.data(), parameters_.data(), spread.size() * sizeof(T));
  stream.synchronize();
  layout_.gather(spread.data(), parameters.data());
}

template <typename T>
Losses DeviceNet<T>::take_losses(const gpu::Stream& stream) {
  LossSum* const on_device = &state_.data()->losses;
  gpu::copy_to_host(stream, losses_.data(), on_device, sizeof(LossSum));
  gpu::fill_bytes(stream, on_device, 0, sizeof(LossSum));
  stream.synchronize();
  return {.sum = losses_.data()->sum, .broken = losses_.data()->broken};
}

template <typename T>
void DeviceNet<T>::issue_forward(const gpu::Stream& stream, const T* features) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const T* const in = inputs_of(l, features);
    if (layer.forward) {
      layer.forward->run(handle_, stream, 1, weights(parameters_, l), in, 0,
                         layer.activation.data(), workspace_.data());
    } else {
      gpu::launch(stream, threads_for(batch_ * layer.outputs), net_kernels<T>().plain_forward,
                  LayerShape{batch_, layer.inputs, layer.outputs}, in, weights(parameters_, l),
                  biases(parameters_, l), l + 1 < layers_.size(), layer.activation.data());
    }
  }
}

template <typename T>
void DeviceNet<T>::issue_loss(const gpu::Stream& stream, const std::int32_t* labels) {
  const Layer& last = layers_.back();
  gpu::launch(stream, threads_for(batch_, 128), net_kernels<T>().softmax_loss,
              last.activation.data(), labels, batch_, last.outputs, last.delta.data(),
              row_losses_.data(), state_.data());
}

// Each input gradient needs the one of the layer above and that layer's weights from before the
// step; weight gradients hang off that chain, so they run beside it.
template <typename T>
void DeviceNet<T>::issue_backward(const gpu::Stream& stream, const T* features) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    if (l > 0) {
      issue_input_gradient(stream, l);
    }
    stream.record(delta_ready_[l]);
    side_.wait_for(delta_ready_[l]);
    issue_weight_gradient(side_, l, features);
  }
  side_.record(weights_done_);
  stream.wait_for(weights_done_);
}

template <typename T>
void DeviceNet<T>::issue_input_gradient(const gpu::Stream& stream, std::size_t l) {
  Layer& layer = layers_[l];
  Layer& below = layers_[l - 1];
  if (layer.input_gradient) {
    layer.input_gradient->run(handle_, stream, 1, weights(parameters_, l), layer.delta.data(), 0,
                              below.delta.data(), workspace_.data());
  } else {
    gpu::launch(stream, threads_for(batch_ * layer.inputs), net_kernels<T>().plain_input_gradient,
                LayerShape{batch_, layer.inputs, layer.outputs}, layer.delta.data(),
                weights(parameters_, l), below.activation.data(), below.delta.data());
  }
}

template <typename T>
void DeviceNet<T>::issue_weight_gradient(const gpu::Stream& stream, std::size_t l,
                                         const T* features) {
  Layer& layer = layers_[l];
  const StepFactors<T>& f = optimizer_.factors;
  const T alpha = update_in_product_ ? -f.rate : T{1};
  const T beta = update_in_product_ ? 1 - f.rate * f.weight_decay : T{0};
  T* const out = weights(update_in_product_ ? parameters_ : gradient_, l);
  const T* const in = inputs_of(l, features);
  const LayerShape shape{batch_, layer.inputs, layer.outputs};
  if (layer.weight_gradient) {
    layer.weight_gradient->run(handle_, stream, alpha, in, layer.delta.data(), beta, out,
                               side_workspace_.data());
  } else {
    gpu::launch(stream, threads_for(layer.inputs * layer.outputs),
                net_kernels<T>().plain_weight_gradient, shape, layer.delta.data(), in, alpha, beta,
                out);
  }
  if (!layer.bias_gradient_in_product) {
    gpu::launch(stream, threads_for(layer.outputs), net_kernels<T>().plain_bias_gradient, shape,
                layer.delta.data(), biases(gradient_, l));
  }
}

template <typename T>
void DeviceNet<T>::issue_update(const gpu::Stream& stream) {
  const std::int64_t begin = update_in_product_ ? layout_.first_bias() : 0;
  const std::int64_t count = layout_.size() - begin;
  // Where there are moments, begin is 0.
  gpu::launch(stream, threads_for(count), net_kernels<T>().update_parameters,
              parameters_.data() + begin, gradient_.data() + begin,
              Moments<T>{first_.data(), second_.data()}, count, row_losses_.data(), state_.data());
}

template <typename T>
std::vector<std::pair<std::string, std::string>> DeviceNet<T>::details() const {
  std::size_t products = 0;
  std::size_t plain = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    products += l == 0 ? 2 : 3;
    plain += (layer.forward ? 0U : 1U) + (layer.weight_gradient ? 0U : 1U) +
             (l > 0 && !layer.input_gradient ? 1U : 0U);
  }
  return {{"products", "cuBLASLt " + cublaslt_version() +
                           (plain == 0 ? ""
                                       : ", " + std::to_string(plain) + " of " +
                                             std::to_string(products) + " by plain kernels")},
          {"update", update_in_product_ ? "in the weight gradients" : "one kernel"}};
}

template class DeviceNet<float>;
template class DeviceNet<double>;

} // namespace diffbench::mlp::cuda
