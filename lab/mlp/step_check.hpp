// SPDX-License-Identifier: Apache-2.0
// The proofs beside the times: the parameters after a few training steps, and the outputs of a
// forward pass, against the same in float64.
//
// Two right engines in float32 differ, because sums are rounded in another order, and because a
// ReLU whose input is nearly zero may be open in one and shut in the other. So for each layer's
// weights, and its biases, the distance to the reference (Euclidean norm) may be
//   1/1000 of the way that training took them, plus one rounding of each parameter in each step,
//   plus what those ReLUs can do: 2 times how far the reference itself comes away when the inputs
//   of all ReLUs are a little higher, and a little lower, than they are. A little is more than
//   float32's roundings make of a sum of that length in any order. So each ReLU that may be open in
//   one engine and shut in another is so in one of the two.
// Engines that are right stay 10 to 1000 times below the first two terms where no ReLU is in doubt
// (docs/mlp.md), so the third is computed where they are exceeded. One that leaves out a single row
// of a batch of 100, or one layer's biases, is far above.
#pragma once

#include "peer.hpp"
#include "result.hpp"
#include "training_job.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

struct StepCheck {
  std::int64_t steps = 0;    ///< after which parameters were compared; 0: outputs were
  double share_of_bound = 0; ///< distance over what it may be, in the worst layer
  std::optional<double> max_abs_error = {}; ///< over the parameters that are finite
  std::int64_t nonfinite = 0;
  std::string net = {}; ///< the small one that it is of, "2,33,2"; empty: that of the row's run

  [[nodiscard]] bool ok() const { return share_of_bound <= 1 && nonfinite == 0; }
};
/// The small nets (small_nets.hpp) that a row was proved on before the net of its run.
struct ProvedNets {
  std::int64_t count = 0;        ///< of results, each compared by itself
  std::vector<std::string> nets; ///< "5,19,7,3", each once
  StepCheck worst;               ///< the first that failed, or that was nearest to it
};

/// What is wrong: "after 2 steps 3 times as far from the reference as it may be, 0 numbers ...".
[[nodiscard]] std::string to_text(const StepCheck& check);

/// Of outputs in float32, over the largest: more than the rounding of long sums, and far below what
/// a wrong weight does.
inline constexpr double most_output_error = 1e-4;

/// NaN where one of them is.
[[nodiscard]] double larger_error(double a, double b);
/// The largest error of `outputs` for these rows, over the largest output; NaN when there is one.
[[nodiscard]] double output_error(const mlp::Network& network, std::span<const float> parameters,
                                  std::span<const float> rows, std::span<const float> outputs);
/// Judged by it.
[[nodiscard]] StepCheck check_outputs(double output_error);

/// A row whose proof that is.
struct NetRow : TimedRow { ///< named "cpu", "cpu, 2 threads", "peer:torch, 1 thread"
  std::optional<StepCheck> check;
  std::optional<ProvedNets> small_nets; ///< empty: it was not given any

  [[nodiscard]] bool is_peer() const { return names_peer(name); }
  [[nodiscard]] bool verified() const { return check && check->ok(); }
  [[nodiscard]] bool wrong() const { return check && !check->ok(); }
  /// Verified and timed.
  [[nodiscard]] bool ranked() const { return verified() && timed(); }
};

class StepReference {
 public:
  /// Computes a few steps in float64: with the engine `scalar` where that takes a moment, else with
  /// an engine that the tests hold to it. `job` must stay valid.
  explicit StepReference(const TrainingJob& job);

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::string engine() const { return std::string(engine_.name); }
  /// `parameters`: after steps() steps from the job's start. Computes the steps twice more for the
  /// first ones that are far from them.
  [[nodiscard]] StepCheck check(std::span<const float> parameters);

 private:
  /// The weights or the biases of a layer, from `begin` to `end`.
  struct Part {
    std::size_t begin = 0, end = 0;
    double relu_reach = 0; ///< how far ReLUs near zero take the reference
  };

  [[nodiscard]] std::vector<double> train(std::span<const double> start) const;
  [[nodiscard]] std::vector<double> relu_doubts() const;
  void allow_for_relus();
  [[nodiscard]] StepCheck compare(std::span<const float> parameters) const;

  const TrainingJob& job_;
  std::int64_t steps_ = 0;
  mlp::EngineInfo engine_;
  std::vector<Part> parts_;
  std::vector<double> start_;
  std::vector<double> end_;
  bool relus_allowed_for_ = false;
};

} // namespace diffbench::bench
