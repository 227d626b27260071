// SPDX-License-Identifier: Apache-2.0
// The self-test, whatever is compared with itself: in each trial the same code runs in four rows of
// one run, two of them made slower on purpose. How often does that give a verdict, and how often
// the right one?
//
// `diffbench selftest` (compare/selftest.cpp) has one subject of backends and one of engines.
#pragma once

#include "diffbench/execution.hpp"
#include "diffbench/line_cache.hpp"
#include "diffbench/mlp/network.hpp"
#include "diffbench/name_table.hpp"
#include "lab_report.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "trial_tally.hpp"
#include "value.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// The others are compared with the first.
/// The rows of each trial, all of them of the same code.
inline const std::array trial_rows{TrialRow{"reference", 0}, TrialRow{"same", 0},
                                   TrialRow{"5 % slower", 0.05}, TrialRow{"10 % slower", 0.10}};

/// A trial makes its rows anew so often, memory and all, and these are the unit of its statistics:
/// what a session is slower by for life no round of it shows. Each gives one ratio; of 12 the
/// interval that covers 99 % bears one that strays to each side.
inline constexpr int sessions_of_trial = 12;

/// What one making of the rows measured.
struct TrialSession {
  std::vector<TimedRow> rows; ///< as trial_rows; all verified where `outcome` is well
  Outcome outcome;
  std::vector<std::string> troubles; ///< a line for each row that is wrong or failed
  bool interrupted = false;          ///< before it was complete
};

/// What is compared with itself.
struct TrialSubject {
  std::string title;        ///< "fused with itself, 256x256 float32"
  Value facts;              ///< the same for programs
  double trial_seconds = 0; ///< the budget of one, with all its sessions
  /// Of all: no trial is begun that would not fit by what the others took.
  double budget_seconds = std::numeric_limits<double>::infinity();
  /// Makes the rows anew, memory and all. Throws as a comparison does, Interrupted among it.
  std::function<TrialSession(Progress&)> run;
};

/// Stops early at Ctrl-C, and at a trial that is not well; reports what was measured until then.
/// Throws Interrupted before there was anything to keep, and what a trial throws.
/// What is found on a machine where nothing else runs is kept in `kept` (least_effect.hpp).
[[nodiscard]] LabReport run_trials(const TrialSubject& subject, std::int64_t trials,
                                   Progress& progress,
                                   const LineCache& kept = LineCache::standard("verdicts"));

/// Refuses what `option` names where it is for another device. Throws InvalidInput.
void require_cpu(DeviceKind device, std::string_view option, std::string_view name);

/// What duels of the self-test have as their sides.
enum class DuelTrialKind { commands, files, backends, rows };
inline constexpr NameTable<DuelTrialKind, 4> duel_trial_kinds{
    "kind of duel",
    {{{DuelTrialKind::commands, "commands"},
      {DuelTrialKind::files, "files"},
      {DuelTrialKind::backends, "backends"},
      {DuelTrialKind::rows, "rows"}}}};

/// Duels of a thing with itself and with slower ones: which, and for how long.
struct DuelTrials {
  DuelTrialKind kind = DuelTrialKind::commands;
  std::vector<double> slowdowns = {0.01, 0.02, 0.05, 0.10}; ///< planted, of the time
  std::int64_t trials = 20;
  double trial_seconds = 0; ///< of one duel of each row
};
/// Stops early as run_trials() does, and at a duel that throws Error once there is something to
/// keep.
using RunDuelTrials = LabReport (*)(const DuelTrials& options, Progress& progress);

/// An engine of the networks, on made-up rows.
struct EngineTrials {
  std::string engine;
  mlp::Network network{{784, 128, 10}};
  std::int64_t batch = 100; ///< rows of a step
  SessionOptions session = {};
  double trial_seconds = 0; ///< of one making of the rows
};
/// Throws InvalidInput, Unavailable.
using MakeEngineTrials = TrialSubject (*)(const EngineTrials& options);

} // namespace diffbench::bench
