// SPDX-License-Identifier: Apache-2.0
// The observers that a comparison was asked for: --trace, --telemetry.
#pragma once

#include "observer.hpp"
#include "telemetry.hpp"
#include "trace.hpp"

#include <optional>
#include <string>

namespace diffbench::bench {

/// What is observed besides.
struct ObservationPlan {
  std::string trace;      ///< file, or empty
  bool telemetry = false; ///< energy, clocks, utilization of each row
};

class Observation {
 public:
  /// `device`: whose telemetry.
  Observation(const ObservationPlan& plan, int device);

  /// Of the measurement; nobody() when nothing was asked for.
  [[nodiscard]] Observer& observer();
  /// Adds the telemetry and the moments of the trace to the result, if they were asked for.
  void report(ComparisonResult& result);
  /// Writes the trace, if it was asked for. Once all spans have ended. Throws Error.
  void write_trace(const std::string& command) const;

 private:
  std::string file_; ///< of the trace
  std::optional<TraceRecorder> trace_;
  std::optional<Telemetry> telemetry_;
  ObserverList list_;
};

} // namespace diffbench::bench
