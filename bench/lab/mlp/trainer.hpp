// Who takes part in a race of training steps: an engine in this process, or a peer in another one.
#pragma once

#include "diffbench/mlp/engine.hpp"
#include "mlp/training_job.hpp"
#include "peer.hpp"
#include "result.hpp"
#include "temporary_directory.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  /// `steps` from the start of the job. Getting there is outside of the time.
  virtual Sample sample(std::int64_t steps) = 0;
  /// The parameters after the latest sample.
  virtual void fetch(std::span<float> parameters) = 0;
  [[nodiscard]] virtual Provenance provenance() const = 0;
  /// Peak memory, where it is that of another process.
  [[nodiscard]] virtual std::optional<std::int64_t> own_peak_bytes() const { return std::nullopt; }
};

/// Makes the engine. `job` must stay valid, as for all trainers. Throws what the engine throws.
[[nodiscard]] std::unique_ptr<Trainer> engine_trainer(const mlp::EngineInfo& engine,
                                                      const SessionOptions& session,
                                                      const TrainingJob& job);

/// The children that peers live in. Importing PyTorch takes seconds, so a child serves one job
/// after another.
class PeerPool {
 public:
  /// Hands `job` to the child of that name and number of threads, started where there is none.
  /// Throws Unavailable, Error.
  [[nodiscard]] std::unique_ptr<Trainer> trainer(const std::string& name, int threads, int device,
                                                 const TrainingJob& job);

 private:
  using Key = std::pair<std::string, int>;

  TemporaryDirectory exchange_; ///< outlives the peers
  std::map<Key, std::shared_ptr<Peer>> peers_;
};

} // namespace diffbench::bench
