// SPDX-License-Identifier: Apache-2.0
// Training steps of engines and peers on one network, side by side: each verified first, then all
// timed in interleaved rounds.
#pragma once

#include "options.hpp"
#include "outcome.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "ratio.hpp"
#include "step_check.hpp"
#include "study.hpp"
#include "value.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Who takes part in a race.
struct RaceOptions {
  std::vector<mlp::EngineInfo> engines;
  /// Each threaded engine and each peer on the CPU once with each. Empty: engines once, as they
  /// choose; peers once with 1 thread and once with all.
  std::vector<int> threads;
  std::vector<std::string> peers;
  bool quality = false; ///< also count the errors after most_steps
  SessionOptions session;
  std::int64_t most_steps = 1000; ///< in a sample
  bool budget_binds = false;      ///< verification included, see TimeTable
};

/// As the verbs that race are asked for it.
struct RaceSetting {
  RaceOptions race;
  EngineChoice choice; ///< race.engines, once they are chosen
  mlp::Optimizer optimizer;
  std::int64_t batch = 100;
  std::uint64_t seed = 1;
  double budget_seconds = 30;
};

/// One way to make the steps.
struct RaceRow : NetRow {
  std::string engine;                       ///< the same whatever the threads: "cpu", "peer:torch"
  int threads = 0;                          ///< asked for; 0: as the engine chooses
  std::optional<std::int64_t> train_errors; ///< rows given a wrong class after all steps
  /// Of making and checking it; of a peer its whole process.
  std::optional<std::int64_t> peak_bytes;
};

struct RaceResult {
  std::vector<RaceRow> rows;
  double timed_seconds = 0;                  ///< the rounds took; all else verified
  std::string reference;                     ///< the engine that computed in float64
  double least_effect = least_effect_in_run; ///< below which a difference of rows is none
};

/// `budget_seconds` are for the samples, or for all. A row that fails or is wrong says so, and the
/// others go on. After Ctrl-C the result has what was measured. Throws what makes a race
/// impossible: Unavailable (a peer), Error (the reference diverges), Interrupted (before there was
/// anything to keep).
[[nodiscard]] RaceResult run_race(const TrainingJob& job, const RaceOptions& options,
                                  double budget_seconds, PeerPool& peers, Progress& progress);

/// The fastest ranked row that `admits`; nullptr without any.
template <typename Admits>
[[nodiscard]] const RaceRow* fastest(std::span<const RaceRow> rows, Admits admits) {
  return fastest(
      rows, [&](const RaceRow& row) { return row.ranked() && admits(row); },
      &RaceRow::step_seconds);
}

/// Why a row has no time, for the reader of a table; empty where it has one.
[[nodiscard]] std::string trouble(const RaceRow& row);
[[nodiscard]] StudyRow study_row(const RaceRow& row, SampleSeries series);

[[nodiscard]] Value row_json(const RaceRow& row);
/// Each with the number of its `iterations`, under that key.
[[nodiscard]] Value samples_json(std::span<const Sample> samples, std::string_view iterations);

void declare_race(OptionList& options, RaceSetting& setting,
                  std::string_view default_engines = "all but scalar",
                  std::string_view default_threads = "as many as pay");
/// Seconds of a race on all of these networks, with what verifies the rows.
[[nodiscard]] double expected_seconds(const RaceSetting& setting,
                                      std::span<const mlp::Network> networks);
/// Throws InvalidInput, and for an engine or peer that cannot run here Unavailable.
void choose_engines(RaceSetting& setting);

} // namespace diffbench::bench
