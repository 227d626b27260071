// The proof beside the time of a training step: parameters after a few steps against the same steps
// in float64.
//
// Two right engines in float32 differ, because sums are rounded in another order, and because a
// ReLU whose input is nearly zero may be open in one and shut in the other. So for each layer's
// weights, and its biases, the distance to the reference (Euclidean norm) may be
//   1/1000 of the way that training took them, plus one rounding of each parameter in each step.
// Engines that are right stay 10 to 1000 times below it (docs/mlp.md); one that leaves out a single
// row of a batch of 100, or one layer's biases, is far above.
#pragma once

#include "training_job.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

struct StepCheck {
  std::int64_t steps = 0;                   ///< after which parameters were compared
  double share_of_bound = 0;                ///< distance over what it may be, in the worst layer
  std::optional<double> max_abs_error = {}; ///< over the parameters that are finite
  std::int64_t nonfinite = 0;

  [[nodiscard]] bool ok() const { return share_of_bound <= 1 && nonfinite == 0; }
};

class StepReference {
 public:
  /// Computes a few steps in float64: with the engine `scalar` where that takes a moment, else with
  /// an engine that the tests hold to it.
  explicit StepReference(const TrainingJob& job);

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] const std::string& engine() const { return engine_; }
  /// `parameters`: after steps() steps from the job's start.
  [[nodiscard]] StepCheck check(std::span<const float> parameters) const;

 private:
  mlp::Network network_;
  std::vector<double> start_;
  std::vector<double> end_;
  std::int64_t steps_ = 0;
  std::string engine_;
};

} // namespace diffbench::bench
