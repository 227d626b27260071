// SPDX-License-Identifier: Apache-2.0
// Pictures and files of the field: a run of its own after the timing, so that writing disturbs no
// measurement.
#pragma once

#include "comparison_plan.hpp"
#include "diffbench/picture.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace diffbench::bench {

enum class SnapshotFormat { npy, png };

/// Pictures and files of the field itself, made by a run of their own after the timing.
struct RecordPlan {
  std::string save; ///< .npy of the final field; empty: none
  std::string png;
  std::optional<ColourRange> range;
  std::int64_t snapshot_every = 0; ///< 0: no snapshots
  std::string snapshot_dir = "snapshots";
  SnapshotFormat snapshot_format = SnapshotFormat::npy;
  bool async = false; ///< snapshots travel while the device computes

  [[nodiscard]] bool wanted() const { return !save.empty() || !png.empty() || snapshot_every > 0; }
};

/// What the run was.
struct Recording {
  std::string backend;
  std::int64_t snapshots = 0;
  bool async = false;        ///< snapshots travelled beside the computation
  bool needs_pinned = false; ///< asked for, but the copies hold up the host
  double seconds = 0; ///< of the steps, the copies and the writing of snapshots; 0: not measured
};

/// Runs the problem once more with the fastest verified backend of `result` and writes what
/// `record` asks for. Throws Error when nothing was verified, when a file cannot be written,
/// or when the final field is not the reference's; Interrupted.
[[nodiscard]] Recording record(const RecordPlan& record, const RunPlan& run,
                               const ComparisonResult& result,
                               std::span<const PlannedRow> planned_rows, Progress& progress);

/// One line for a person.
[[nodiscard]] std::string format_recording(const Recording& recording);

} // namespace diffbench::bench
