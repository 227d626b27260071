// `diffbench mlp train`: trains one network with every engine from the same parameters, on the same
// rows in the same order, and shows times and quality side by side.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/mlp/quality.hpp"
#include "diffbench/mlp/training.hpp"
#include "lab_report.hpp"
#include "options.hpp"
#include "statistics.hpp"
#include "step_check.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What one engine, or peer, made of it.
struct Trained {
  std::string engine; ///< "cpu", "peer:torch, 2 threads"
  DeviceKind device = DeviceKind::cpu;
  bool prefetched = false; ///< a thread gathered its batches ahead
  Provenance provenance = {};
  std::string failure = {};                  ///< why it did not come to an end
  std::optional<ProvedNets> small_nets = {}; ///< of an engine
  std::vector<mlp::Epoch> epochs = {};
  std::vector<float> parameters = {};                ///< after the last epoch that was right
  std::optional<mlp::Quality> train = {}, test = {}; ///< not there when Ctrl-C came before

  [[nodiscard]] bool wrong() const { return small_nets && !small_nets->worst.ok(); }
  [[nodiscard]] std::string name() const { return engine + (prefetched ? "+async" : ""); }
  /// It says nothing of its losses, nor where its time went.
  [[nodiscard]] bool is_peer() const { return names_peer(engine); }
  /// What is emulated has results, and no times.
  [[nodiscard]] bool timed() const { return device != DeviceKind::emulated && !epochs.empty(); }
  [[nodiscard]] Quartiles epoch_quartiles() const {
    std::vector<double> seconds;
    for (const mlp::Epoch& epoch : epochs) {
      seconds.push_back(epoch.wall);
    }
    return quartiles(std::move(seconds));
  }
  [[nodiscard]] double seconds_per_epoch() const { return epoch_quartiles().median; }
  [[nodiscard]] mlp::EpochTimes total() const {
    mlp::EpochTimes sum;
    for (const mlp::Epoch& epoch : epochs) {
      sum.data += epoch.times.data;
      sum.step += epoch.times.step;
      sum.wait += epoch.times.wait;
    }
    return sum;
  }
};

/// What they were trained on, and how.
struct TrainSetting {
  MlpOptions options;
  mlp::Split data;
  mlp::Training training;
  std::vector<float> start;
};

/// The engine's, once it is right on the small nets; with `prefetch` a thread gathers its batches
/// ahead. What goes wrong on the way is a failure. Throws Unavailable.
[[nodiscard]] Trained train_engine(const TrainSetting& setting, const mlp::EngineInfo& info,
                                   bool prefetch, Progress& progress);
/// PyTorch's training from the same parameters, on the same rows in the same order; its quality is
/// judged by the engine `cpu`. After Ctrl-C there is none. A child that dies on the way is a
/// failure, as that of an engine is. Throws Unavailable.
[[nodiscard]] Trained train_peer(const TrainSetting& setting, const std::string& peer, int threads,
                                 Progress& progress);

[[nodiscard]] LabReport train_report(const TrainSetting& setting, std::span<const Trained> all);

} // namespace diffbench::bench
