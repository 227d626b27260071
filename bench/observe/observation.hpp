// The observers that a comparison was asked for: --trace, --telemetry.
#pragma once

#include "comparison_options.hpp"
#include "observer.hpp"
#include "telemetry.hpp"
#include "trace.hpp"

#include <optional>

namespace diffbench::bench {

class Observation {
 public:
  explicit Observation(const Options& options);

  /// Of the measurement; nobody() when nothing was asked for.
  [[nodiscard]] Observer& observer();
  /// Adds the telemetry and the moments of the trace to the result, if they were asked for.
  void report(ComparisonResult& result);
  /// Writes the trace, if it was asked for. Once all spans have ended. Throws Error.
  void write_trace() const;

 private:
  const Options& options_;
  std::optional<TraceRecorder> trace_;
  std::optional<Telemetry> telemetry_;
  ObserverList list_;
};

} // namespace diffbench::bench
