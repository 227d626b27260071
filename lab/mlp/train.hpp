// SPDX-License-Identifier: Apache-2.0
// `diffbench mlp train`: trains one network with every engine from the same parameters, on the same
// rows in the same order, and shows times and quality side by side.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/mlp/quality.hpp"
#include "diffbench/mlp/training.hpp"
#include "lab_report.hpp"
#include "options.hpp"
#include "step_check.hpp"
#include "stolen_time.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What one engine, or peer, made of it; each sample is an epoch.
struct Trained : NetRow {         ///< named "cpu", "cpu+async", "peer:torch, 2 threads"
  std::string engine;             ///< without "+async"
  bool prefetched = false;        ///< a thread gathered its batches ahead
  std::vector<mlp::Epoch> epochs; ///< a peer says nothing of its losses, nor where its time went
  std::vector<float> parameters;  ///< after the last epoch that was right
  std::optional<mlp::Quality> train, test; ///< not there when Ctrl-C came before

  void add(const mlp::Epoch& epoch, const StolenTime& stolen) {
    epochs.push_back(epoch);
    if (!emulated()) { // what is emulated has results, and no times
      samples.push_back({.iterations = 1, .seconds = epoch.wall, .cpu_seconds = {}});
      stolen.tell(samples.back());
    }
  }
  void give_up(std::string why) {
    status = Status::failed;
    reason = std::move(why);
  }
  /// Whether or not it came to the end.
  [[nodiscard]] bool timed() const { return !samples.empty(); }
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

/// Where the time of all epochs of one engine went, in seconds: parts that exclude each other and
/// add up to the wall time.
struct TrainLedger {
  std::string engine;
  mlp::StepTimes parts;                 ///< on the host's clock
  double unexplained = 0;               ///< what they leave of `wall`
  double wall = 0;                      ///< from the drawing of the order to the last step
  std::optional<mlp::StepTimes> device; ///< by the device's own clock, where there is one
};

/// An engine that keeps no account leaves all of its time unexplained.
[[nodiscard]] TrainLedger ledger_of(std::string engine, std::span<const mlp::Epoch> epochs);
/// Shares of the wall time, engine by engine, and which parts an engine does at once.
[[nodiscard]] std::string ledger_table(std::span<const TrainLedger> ledgers);
[[nodiscard]] Value ledger_json(const TrainLedger& ledger);

[[nodiscard]] LabReport train_report(const TrainSetting& setting, std::span<const Trained> all);

} // namespace diffbench::bench
