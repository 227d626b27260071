// SPDX-License-Identifier: Apache-2.0
// What code asks of an emulated device in each step, from what was counted in runs of different
// lengths: what a run does once, such as the copies of a field that then stays, drops out.
#pragma once

#include "report_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What had been counted (emulation/user_reports.h) before a run and after it.
struct RunCounts {
  std::int64_t field_bytes = 0, steps = 0;
  Value before, after;
};

struct DeviceCosts {
  double copies = 0;      ///< a step, between host and device
  double waits = 0;       ///< a step
  double allocations = 0; ///< a step
  double launches = 0;    ///< a step
  // Bytes a step, in multiples of the field's:
  double managed = 0; ///< of managed memory, which move between host and device
  double mapped = 0;  ///< of the host's page-locked memory, which kernels read and write
  std::int64_t pageable_async = 0; ///< asynchronous copies a run from or to pageable memory
  double queued_atomics = 0;       ///< a step and byte of the field, all to one address
  /// What kernels wrote in all runs, of the field's bytes once a step.
  double written = 0;
};

/// From the shortest and the longest run of a field as large as the first run's; empty where their
/// counts or their numbers of steps do not differ.
[[nodiscard]] std::optional<DeviceCosts> device_costs(const std::vector<RunCounts>& runs);

/// Of kernels, in all.
[[nodiscard]] std::int64_t launches_in(const Value& counts);

/// The field stays on the device: nothing travels in a step, be it by copies, by pages of managed
/// memory, or by kernels that reach for the host's.
[[nodiscard]] bool is_resident(const DeviceCosts& costs);

/// A sentence for each thing that costs time and leaves the result right.
[[nodiscard]] std::vector<std::string> cost_notes(const DeviceCosts& costs);
[[nodiscard]] Value costs_json(const std::optional<DeviceCosts>& costs);

} // namespace diffbench::bench
