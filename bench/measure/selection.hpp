// SPDX-License-Identifier: Apache-2.0
// Which rows a comparison will have, and whether their memory is there.
#pragma once

#include "comparison_plan.hpp"
#include "diffbench/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// A row to be: a backend and how its sessions run. One backend may stand in several rows.
struct PlannedRow {
  BackendInfo backend;
  Probe probe;
  double probe_seconds = 0; ///< of the first probe in this process, which starts the driver
  SessionOptions session = {};
  std::int64_t roundtrip_every = 0; ///< steps between two trips to the host and back; 0: none
  std::int64_t snapshot_every = 0;  ///< steps between two copies to the host; 0: none
  cluster::Ranks* ranks = nullptr;  ///< on all of these; null: in this process alone
  std::int64_t halo_depth = 0;      ///< of ranks; 0: chosen by trying
  bool gpu_aware = false;           ///< of ranks on a device: messages in its memory
  double slowdown = 0;              ///< planted, as a fraction of the time of the steps
  std::string label = {};           ///< of the row; empty: the backend's name

  /// Steps from one visit of the host to the next; 0: none.
  [[nodiscard]] std::int64_t visits_host_every() const {
    return roundtrip_every > 0 ? roundtrip_every : snapshot_every;
  }

  [[nodiscard]] std::string row_name() const {
    return label.empty() ? std::string(backend.name) : label;
  }
};

/// A note that names the slow backends that only run where they are asked for
/// (BackendInfo::teaching), and which `plan` does not ask for; nothing where there are none.
[[nodiscard]] std::optional<std::string> note_on_left_out(const RowPlan& plan);

/// The named backends in ladder order; when none is named all compiled ones, available or not,
/// without those of note_on_left_out().
/// Those on a device once more as a naive port where round trips are asked for, and those that can
/// run once more on all ranks where there are several. Throws
/// InvalidInput, or Unavailable with the driver's words for a backend that was named, or a device
/// that was chosen, and cannot be used.
[[nodiscard]] std::vector<PlannedRow> select_backends(const RowPlan& plan,
                                                      const RankPlan& many = {});

/// The planned_rows, and after each on a device the same with a round trip every so many steps.
[[nodiscard]] std::vector<PlannedRow> with_round_trips(std::span<const PlannedRow> planned_rows,
                                                       std::int64_t every);

/// The same on all of `ranks`.
[[nodiscard]] PlannedRow on_ranks(const PlannedRow& planned, cluster::Ranks& ranks,
                                  std::int64_t halo_depth, bool gpu_aware = false);

/// What its sessions take on this machine. Throws InvalidInput where the rows do not do for its
/// ranks.
[[nodiscard]] MemoryNeed memory_of(const PlannedRow& planned, const Problem& problem);

/// Throws InvalidInput, with both figures, when the planned_rows (with what they page-lock on the
/// host), so many peers and the field between them need more memory than is free on the host, or
/// than their device has: their sessions live side by side while they are timed.
void check_memory(const Problem& problem, std::span<const PlannedRow> planned_rows,
                  std::size_t peers, std::int64_t available_bytes);

} // namespace diffbench::bench
