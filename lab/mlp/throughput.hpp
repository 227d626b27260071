// SPDX-License-Identifier: Apache-2.0
// `diffbench mlp throughput`: rows a second by batch size, for answers (forward) or training steps,
// up to what memory holds. Running out of memory ends the search, not the program.
#pragma once

#include "lab_report.hpp"
#include "race.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

// The search for the batch size with the most rows a second: arithmetic only, so that it can be
// tested.

/// Upwards, or round the best.
enum class SearchPhase { doubling, refining };

/// What trying a batch size gave.
struct BatchTrial {
  std::optional<double> rows_per_second;
  std::string why_not; ///< without a rate: what ends the search upwards
};

struct BatchPoint {
  std::int64_t batch = 0;
  double rows_per_second = 0;
};

struct BatchSearch {
  std::vector<BatchPoint> curve; ///< by batch size
  std::string ended_by;

  /// The fastest; nullptr where nothing was measured.
  [[nodiscard]] const BatchPoint* best() const;
};

/// Doubles the batch from `first` up to `most` (itself the last, and not less than `first`), or to
/// a trial without a rate; then tries the middles (geometric) towards the neighbours of the best,
/// twice; then the best once more, until one stays the best: what `measure` says of all its
/// measurements counts. `go_on` is asked before each trial.
[[nodiscard]] BatchSearch search_batches(std::int64_t first, std::int64_t most,
                                         const std::function<BatchTrial(std::int64_t)>& measure,
                                         const std::function<bool(SearchPhase)>& go_on);

/// What one engine does.
struct EngineThroughput {
  RaceRow row; ///< its check is the latest, its samples are those of the best batch size
  BatchSearch search;
  std::int64_t verified_to = 0; ///< the largest batch size whose results were compared
  std::map<std::int64_t, std::vector<Sample>> samples; ///< by batch size; an iteration is a batch
};

struct ThroughputSetting {
  mlp::Network network;
  std::vector<mlp::EngineInfo> engines;
  bool named = false; ///< they were asked for: one that cannot take the network is an error
  SessionOptions session = {};
  bool training = false;
  std::int64_t first_batch = 1;
  std::int64_t most_batch = std::int64_t{1} << 32;
  std::uint64_t seed = 1;
  double budget_seconds = 20; ///< of one engine
  bool budget_binds = false;  ///< of all of them, with what surrounds the search
  double batch_seconds = 0.3; ///< for the samples of one batch size
};

struct ThroughputStudy {
  mlp::Network network;
  bool training = false;
  std::vector<EngineThroughput> engines;
  bool interrupted = false;
};

/// Bytes that rows, outputs and an engine's layers take for a batch, at most.
[[nodiscard]] double batch_bytes(const mlp::Network& network, std::int64_t batch);

/// One engine after another. Outputs, or for training the parameters after a few steps, are
/// compared with float64 at every batch size where that is affordable.
[[nodiscard]] ThroughputStudy measure_throughput(const ThroughputSetting& setting,
                                                 Progress& progress);

[[nodiscard]] LabReport throughput_report(const ThroughputStudy& study);

} // namespace diffbench::bench
