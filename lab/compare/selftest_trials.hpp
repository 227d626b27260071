// SPDX-License-Identifier: Apache-2.0
// The self-test, whatever is compared with itself: in each trial the same code runs in four rows of
// one run, two of them made slower on purpose. How often does that give a verdict, and how often
// the right one?
//
// `diffbench selftest` (compare/selftest.cpp) has a backend as its subject.
#pragma once

#include "diffbench/line_cache.hpp"
#include "lab_report.hpp"
#include "least_effect.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "ratio.hpp"
#include "result.hpp"
#include "value.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Fewer say nothing of a rate.
inline constexpr std::int64_t least_trials = 10;

/// What is compared with the reference in each trial.
struct TrialRow {
  std::string label;
  double slowdown; ///< planted, as a fraction of the time
};
/// The rows of each trial, all of them of the same code; the others are compared with the first.
inline const std::array trial_rows{TrialRow{"reference", 0}, TrialRow{"same", 0},
                                   TrialRow{"5 % slower", 0.05}, TrialRow{"10 % slower", 0.10}};

/// Beside a load, where each session is a trial.
inline const std::array rows_beside_load{TrialRow{"reference", 0}, TrialRow{"same", 0},
                                         TrialRow{"twice as long", 1}};

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
  std::span<const TrialRow> rows = trial_rows;
  std::string load = {}; ///< what runs beside it on purpose; empty: nothing
  /// Makes the rows anew, memory and all. Throws as a comparison does, Interrupted among it.
  std::function<TrialSession(Progress&)> run;
};

/// Under which what was found beside that load is kept, in words.
[[nodiscard]] std::string key_beside(const std::string& load);

/// Stops early at Ctrl-C, and at a trial that is not well; reports what was measured until then.
/// Throws Interrupted before there was anything to keep, and what a trial throws.
/// What is found on a machine where nothing else runs is kept in `kept` (least_effect.hpp), and,
/// for doctor alone, what is found beside a load.
[[nodiscard]] LabReport run_trials(const TrialSubject& subject, std::int64_t trials,
                                   Progress& progress,
                                   const LineCache& kept = LineCache::standard("verdicts"));

} // namespace diffbench::bench
