// SPDX-License-Identifier: Apache-2.0
// What is timed in this process: an engine at training steps or at answers, or the matrix products
// of a step alone.
#pragma once

#include "cpu_time.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/stopwatch.hpp"
#include "rounds.hpp"
#include "training_job.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace diffbench::bench {

/// Its samples start from the job's parameters, and its result are those after the latest one.
using TimedSteps = Timed<float>;

/// Thrown by a sample whose losses left the range of the numbers.
class LossNotFinite : public Error {
 public:
  using Error::Error;
};

/// Makes the engine. `job` must stay valid, as for all timed steps. Throws what the engine throws.
[[nodiscard]] std::unique_ptr<TimedSteps> engine_steps(const mlp::EngineInfo& engine,
                                                       const SessionOptions& session,
                                                       const TrainingJob& job);

/// Forward passes instead of steps, on one batch of the job after another; the result are the
/// outputs of the latest one.
[[nodiscard]] std::unique_ptr<Timed<float>> engine_answers(const mlp::EngineInfo& engine,
                                                           const SessionOptions& session,
                                                           const TrainingJob& job);

} // namespace diffbench::bench
