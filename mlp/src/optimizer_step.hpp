// SPDX-License-Identifier: Apache-2.0
// What an optimizer makes of a gradient, one parameter at a time: PyTorch's torch.optim.SGD and
// torch.optim.Adam (Kingma and Ba, 2015), in their order of operations.
#pragma once

#include "diffbench/mlp/engine.hpp"
#include "step_factors.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diffbench::mlp {

/// For the t-th step, t from 1.
template <typename T>
StepFactors<T> step_factors(const Optimizer& optimizer, std::int64_t t) {
  const auto steps = static_cast<double>(t);
  const bool adam = optimizer.kind == Optimizer::Kind::adam;
  const double correction = adam ? 1 - std::pow(optimizer.beta1, steps) : 1;
  return {.adam = adam,
          .rate = static_cast<T>(optimizer.rate / correction),
          .weight_decay = static_cast<T>(optimizer.weight_decay),
          .momentum = static_cast<T>(t == 1 ? 0 : optimizer.momentum),
          .keep1 = static_cast<T>(optimizer.beta1),
          .take1 = static_cast<T>(1 - optimizer.beta1),
          .keep2 = static_cast<T>(optimizer.beta2),
          .take2 = static_cast<T>(1 - optimizer.beta2),
          .root_correction = static_cast<T>(std::sqrt(1 - std::pow(optimizer.beta2, steps))),
          .epsilon = static_cast<T>(optimizer.epsilon)};
}

/// Moments of all parameters, as many as the optimizer has.
template <typename T>
class OptimizerState {
 public:
  OptimizerState(const Optimizer& optimizer, std::size_t parameters)
      : optimizer_(optimizer),
        first_(optimizer.kind == Optimizer::Kind::adam || optimizer.momentum != 0 ? parameters : 0),
        second_(optimizer.kind == Optimizer::Kind::adam ? parameters : 0) {}

  void begin_step() { factors_ = step_factors<T>(optimizer_, ++step_); }

  /// The new value of parameter i.
  [[nodiscard]] T updated(std::size_t i, T parameter, T gradient) {
    const StepFactors<T>& f = factors_;
    gradient += f.weight_decay * parameter;
    if (f.adam) {
      first_[i] = f.keep1 * first_[i] + f.take1 * gradient;
      second_[i] = f.keep2 * second_[i] + f.take2 * gradient * gradient;
      const T root = std::sqrt(second_[i]) / f.root_correction + f.epsilon;
      return parameter - f.rate * first_[i] / root;
    }
    if (!first_.empty()) {
      gradient = first_[i] = f.momentum * first_[i] + gradient;
    }
    return parameter - f.rate * gradient;
  }

 private:
  Optimizer optimizer_;
  std::int64_t step_ = 0;
  StepFactors<T> factors_{};
  std::vector<T> first_;
  std::vector<T> second_;
};

} // namespace diffbench::mlp
