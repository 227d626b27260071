// SPDX-License-Identifier: Apache-2.0
// The dullest training step: plain loops in the order of the formulas, one thread. In float64 it is
// the reference for all engines.
#include "diffbench/mlp/engine.hpp"
#include "loss_counter.hpp"
#include "optimizer_step.hpp"
#include "step_timer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace diffbench::mlp {

namespace {

template <typename T>
class ScalarEngine final : public Engine<T> {
 public:
  ScalarEngine(const Training& training, const SessionOptions& /*options*/)
      : network_(training.network),
        optimizer_(training.optimizer),
        parameters_(size(network_.parameters())),
        gradient_(parameters_.size()),
        state_(optimizer_, parameters_.size()),
        timer_(training) {}

  void set_parameters(std::span<const T> parameters) override {
    std::ranges::copy(parameters, parameters_.begin());
    state_ = OptimizerState<T>(optimizer_, parameters_.size());
  }
  void get_parameters(std::span<T> parameters) override {
    std::ranges::copy(parameters_, parameters.begin());
  }

  void step(std::span<const T> features, std::span<const std::int32_t> labels) override {
    timer_.start();
    const auto rows = static_cast<std::int64_t>(labels.size());
    std::ranges::fill(gradient_, T{0});
    double loss = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      activate(features.subspan(size(row * network_.inputs()), size(network_.inputs())));
      timer_.charge(&StepTimes::forward);
      loss += backpropagate(labels[size(row)], static_cast<T>(rows));
      timer_.charge(&StepTimes::backward);
    }
    losses_.add(loss);
    state_.begin_step();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] = state_.updated(i, parameters_[i], gradient_[i]);
    }
    timer_.charge(&StepTimes::update);
  }

  Losses wait() override { return losses_.take(); }

  void forward(std::span<const T> features, std::span<T> outputs) override {
    timer_.start();
    const std::size_t inputs = size(network_.inputs());
    const std::size_t classes = size(network_.classes());
    for (std::size_t row = 0; row * inputs < features.size(); ++row) {
      activate(features.subspan(row * inputs, inputs));
      std::ranges::copy(activations_.back(),
                        outputs.begin() + static_cast<std::ptrdiff_t>(row * classes));
    }
    timer_.charge(&StepTimes::forward);
  }

  std::optional<EngineTimes> take_times() override { return timer_.take(); }

  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  [[nodiscard]] std::span<T> weights(std::vector<T>& all, std::int64_t layer) const {
    return {all.data() + network_.weights_at(layer),
            size(network_.inputs(layer) * network_.outputs(layer))};
  }
  [[nodiscard]] std::span<T> biases(std::vector<T>& all, std::int64_t layer) const {
    return {all.data() + network_.biases_at(layer), size(network_.outputs(layer))};
  }

  /// activations_[l] is the input of layer l, the last one the outputs.
  void activate(std::span<const T> row) {
    activations_.assign(1, std::vector<T>(row.begin(), row.end()));
    for (std::int64_t l = 0; l < network_.layers(); ++l) {
      const std::span<const T> w = weights(parameters_, l);
      const std::vector<T>& in = activations_.back();
      const std::span<const T> b = biases(parameters_, l);
      std::vector<T> out(b.begin(), b.end());
      for (std::size_t o = 0; o < out.size(); ++o) {
        for (std::size_t i = 0; i < in.size(); ++i) {
          out[o] += w[o * in.size() + i] * in[i];
        }
        if (l + 1 < network_.layers()) {
          out[o] = std::max(out[o], T{0});
        }
      }
      activations_.push_back(std::move(out));
    }
  }

  /// Adds the row's share of the gradient of the batch's mean loss; returns the row's loss.
  double backpropagate(std::int32_t label, T rows) {
    const std::vector<T>& outputs = activations_.back();
    const T largest = *std::ranges::max_element(outputs);
    T sum = 0;
    for (const T output : outputs) {
      sum += std::exp(output - largest);
    }
    std::vector<T> delta; // gradient with respect to the outputs of a layer
    delta.reserve(outputs.size());
    for (const T output : outputs) {
      delta.push_back(std::exp(output - largest) / sum / rows);
    }
    delta[size(label)] -= 1 / rows;
    for (std::int64_t l = network_.layers() - 1; l >= 0; --l) {
      delta = through_layer(l, delta);
    }
    return static_cast<double>(std::log(sum) - (outputs[size(label)] - largest));
  }

  /// Returns the gradient with respect to the inputs of the layer, before their ReLU.
  std::vector<T> through_layer(std::int64_t l, const std::vector<T>& delta) {
    const std::vector<T>& in = activations_[size(l)];
    const std::span<const T> w = weights(parameters_, l);
    const std::span<T> dw = weights(gradient_, l);
    const std::span<T> db = biases(gradient_, l);
    std::vector<T> below(in.size(), T{0});
    for (std::size_t o = 0; o < delta.size(); ++o) {
      db[o] += delta[o];
      for (std::size_t i = 0; i < in.size(); ++i) {
        dw[o * in.size() + i] += delta[o] * in[i];
        below[i] += delta[o] * w[o * in.size() + i];
      }
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      below[i] = in[i] > 0 ? below[i] : T{0};
    }
    return below;
  }

  Network network_;
  Optimizer optimizer_;
  std::vector<T> parameters_;
  std::vector<T> gradient_;
  OptimizerState<T> state_;
  std::vector<std::vector<T>> activations_;
  LossCounter losses_;
  StepTimer timer_;
};

} // namespace

namespace engines {

EngineInfo scalar() {
  return {.name = "scalar",
          .description = "the simplest loop, one thread: the reference",
          .teaching = true,
          .make_float32 = EngineInfo::construct<ScalarEngine<float>>,
          .make_float64 = EngineInfo::construct<ScalarEngine<double>>};
}

} // namespace engines

} // namespace diffbench::mlp
