// SPDX-License-Identifier: Apache-2.0
// `diffbench run`: one backend, for as long as it takes, on ranks that hold their own rows only. No
// rounds and no rows to compare, but the first steps verified, the time, the field's digest, and
// the field in files: checkpoints, snapshots.
#pragma once

#include "comparison_plan.hpp"
#include "diffbench/cluster/checkpoint.hpp"
#include "lab_report.hpp"
#include "verb.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

struct LongRunOptions : RunPlan, RowPlan { ///< of one backend
  double reference_seconds = 10;           ///< where it is more than least_limit_seconds
  RankPlan many;
  std::string checkpoint; ///< file, or empty
  std::int64_t checkpoint_every = 0;
  std::string restart;                    ///< file, or empty
  std::vector<std::string> given_problem; ///< the options of the problem that were given
  std::string save;                       ///< .npy of the final field; empty: none
  std::int64_t snapshot_every = 0;        ///< 0: no snapshots
  std::string snapshot_dir = "snapshots";
  std::string sbatch; ///< Slurm's options of a job; empty: run here
  LabOutput output;

  [[nodiscard]] const std::string& backend() const { return backends.front(); }
};

/// The initial field as a checkpoint keeps it.
[[nodiscard]] std::string name_of(const InitialField& initial);
/// The problem is the checkpoint's; an option that says otherwise is refused.
void take_problem(LongRunOptions& run, const cluster::CheckpointFacts& facts);

/// What came of it.
struct LongRun {
  std::string backend;
  Provenance provenance;
  int ranks = 1;
  bool oversubscribed = false;
  std::int64_t depth = 0;
  std::int64_t first_step = 0; ///< where it began
  std::int64_t last_step = 0;  ///< where it ended
  double seconds = 0;          ///< of these steps, without what is written
  double checkpoint_seconds = 0;
  int checkpoints = 0;
  std::int64_t snapshots = 0;
  std::int64_t verified_steps = 0; ///< compared with the reference, of the first ones
  bool verified = false;           ///< they were equal
  std::string digest;
  std::string sha256;    ///< empty where the whole field was not put together
  std::string not_saved; ///< why a file of the final field is not there
  bool interrupted = false;
  std::int64_t cells = 0;

  [[nodiscard]] std::optional<double> step_seconds() const;
  [[nodiscard]] std::optional<double> cells_per_second() const;
  /// Whether the checkpoint that it began with is of the last step: a run was killed right then.
  [[nodiscard]] bool nothing_left() const { return !interrupted && last_step == first_step; }
  /// Whether it ended before anything was compared with the reference.
  [[nodiscard]] bool unproved() const {
    return (interrupted && verified_steps == 0) || nothing_left();
  }
};

/// `initial`: the field's name.
[[nodiscard]] LabReport long_run_report(const LongRunOptions& options, const std::string& initial,
                                        const LongRun& run);

/// On all ranks, or on this process alone. Verifies against the oracle on the same ranks, for as
/// many steps as the budget affords. Ctrl-C keeps the state in the checkpoint, if there is
/// one: from the first verified step on, or the reference's own. Returns the exit code; throws as
/// run_comparison() does.
[[nodiscard]] int run_long(const LongRunOptions& given, const Invocation& invocation);

} // namespace diffbench::bench
