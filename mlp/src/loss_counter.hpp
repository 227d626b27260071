// SPDX-License-Identifier: Apache-2.0
// Adds up the losses of the steps of an engine on the CPU.
#pragma once

#include "diffbench/mlp/engine.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace diffbench::mlp {

class LossCounter {
 public:
  /// The sum over the rows of one step.
  void add(double loss) {
    ++steps_;
    losses_.sum += loss;
    if (losses_.broken == 0 && !std::isfinite(loss)) {
      losses_.broken = steps_;
    }
  }
  Losses take() {
    steps_ = 0;
    return std::exchange(losses_, Losses{});
  }

 private:
  Losses losses_;
  std::int64_t steps_ = 0;
};

} // namespace diffbench::mlp
