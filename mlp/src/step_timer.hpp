// SPDX-License-Identifier: Apache-2.0
// The account of an engine on the CPU: laps between readings of the clock, each charged to a part
// of the step, so that they add up to the time inside the calls. Two readings a part at most; a
// reading takes some 25 ns, and none is made without Training::times.
#pragma once

#include "diffbench/mlp/engine.hpp"
#include "diffbench/stopwatch.hpp"

#include <optional>
#include <utility>

namespace diffbench::mlp {

class StepTimer {
 public:
  explicit StepTimer(const Training& training) : on_(training.times) {}

  /// A call begins.
  void start() {
    if (on_) {
      watch_.lap();
    }
  }
  /// What has passed since the last reading was `part`.
  void charge(double StepTimes::*part) {
    if (on_) {
      times_.*part += watch_.lap();
    }
  }

  /// For Engine::take_times().
  std::optional<EngineTimes> take() {
    if (!on_) {
      return std::nullopt;
    }
    return EngineTimes{.host = std::exchange(times_, {}), .device = {}};
  }

 private:
  bool on_;
  Stopwatch<> watch_;
  StepTimes times_;
};

} // namespace diffbench::mlp
