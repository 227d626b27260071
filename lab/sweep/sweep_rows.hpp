// SPDX-License-Identifier: Apache-2.0
// The rows of a sweep's combinations, read back from the journal. Those just measured come the same
// way, so a resumed sweep reports what an uninterrupted one would.
#pragma once

#include "outcome.hpp"
#include "result.hpp"
#include "sweep_journal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct SweepRow {
  std::string name;
  DeviceKind device = DeviceKind::cpu;
  int threads = 1;
  bool is_peer = false;
  bool wrong = false;          ///< not the reference's field
  bool naive = false;          ///< a port that makes round trips
  std::string failure;         ///< why it has no time, as far as known
  std::vector<Sample> samples; ///< without any, the row cannot be compared
  std::optional<double> cold_seconds;
  std::optional<double> warm_seconds;

  [[nodiscard]] Ending ending() const {
    return {.kind = wrong              ? Ending::Kind::wrong
                    : !failure.empty() ? Ending::Kind::failed
                    : samples.empty()  ? Ending::Kind::nothing
                                       : Ending::Kind::result,
            .row = name,
            .reason = failure};
  }
  /// Seconds a step; the row must have samples.
  [[nodiscard]] double median_step() const;
};

/// All rows of one combination.
struct SweepRows {
  std::vector<std::string> values; ///< one of each axis
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t iterations = 0;
  std::string dtype;
  bool disturbed = false; ///< by other programs; older journals do not say
  std::vector<SweepRow> rows;

  [[nodiscard]] const SweepRow* find(std::string_view name) const;
};

/// Throws InvalidInput for a point that holds no result (an edited file).
[[nodiscard]] SweepRows read_rows(const SweepPoint& point);

/// Which time of a run is compared.
enum class Measure {
  step, ///< an iteration, once everything is in place
  warm, ///< a whole run with both copies
  cold, ///< a whole run from nothing
};
[[nodiscard]] std::string_view to_string(Measure measure);

/// Seconds of that measure, one for each sample; empty where the row has no such time. Of a
/// whole run one time is known: its steps vary as the samples do.
[[nodiscard]] std::vector<double> seconds_of(const SweepRow& row, Measure measure,
                                             std::int64_t iterations);

} // namespace diffbench::bench
