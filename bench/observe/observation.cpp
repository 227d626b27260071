#include "observation.hpp"

#include "diffbench/atomic_file.hpp"
#include "result_file.hpp"

#include <nlohmann/json.hpp>

namespace diffbench::bench {

Observation::Observation(const Options& options) : options_(options) {
  if (!options.trace.empty()) {
    list_.add(trace_.emplace());
  }
  if (options.telemetry) {
    list_.add(telemetry_.emplace(Telemetry::Setup{.device = options.session.device}));
  }
}

Observer& Observation::observer() {
  return trace_ || telemetry_ ? static_cast<Observer&>(list_) : nobody();
}

void Observation::report(ComparisonResult& result) {
  if (telemetry_) {
    telemetry_->report(result);
  }
  if (trace_) {
    trace_->report(result);
  }
}

void Observation::write_trace() const {
  if (trace_) {
    write_atomically(options_.trace, [&](std::ostream& file) {
      file << to_text(trace_->to_json(options_.command));
    });
  }
}

} // namespace diffbench::bench
