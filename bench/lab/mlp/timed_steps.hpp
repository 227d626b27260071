// Who is timed: an engine in this process, at training steps or at answers, or a peer in another
// one.
#pragma once

#include "diffbench/mlp/engine.hpp"
#include "peer.hpp"
#include "rounds.hpp"
#include "temporary_directory.hpp"
#include "training_job.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace diffbench::bench {

/// Its samples start from the job's parameters, and its result are those after the latest one.
using TimedSteps = Timed<float>;

/// Makes the engine. `job` must stay valid, as for all timed steps. Throws what the engine throws.
[[nodiscard]] std::unique_ptr<TimedSteps> engine_steps(const mlp::EngineInfo& engine,
                                                       const SessionOptions& session,
                                                       const TrainingJob& job);

/// Forward passes instead of steps, on one batch of the job after another; the result are the
/// outputs of the latest one.
[[nodiscard]] std::unique_ptr<Timed<float>> engine_answers(const mlp::EngineInfo& engine,
                                                           const SessionOptions& session,
                                                           const TrainingJob& job);

/// The children that peers live in. Importing PyTorch takes seconds, so a child serves one job
/// after another.
class PeerPool {
 public:
  /// Hands `job` to the child of that name and number of threads, started where there is none.
  /// Throws Unavailable, Error.
  [[nodiscard]] std::unique_ptr<TimedSteps> steps(const std::string& name, int threads, int device,
                                                  const TrainingJob& job);

 private:
  using Key = std::pair<std::string, int>;

  TemporaryDirectory exchange_; ///< outlives the peers
  std::map<Key, std::shared_ptr<Peer>> peers_;
};

} // namespace diffbench::bench
