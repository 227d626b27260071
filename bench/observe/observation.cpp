// SPDX-License-Identifier: Apache-2.0
#include "observation.hpp"

#include "diffbench/atomic_file.hpp"
#include "result_file.hpp"

#include <nlohmann/json.hpp>

namespace diffbench::bench {

Observation::Observation(const ObservationPlan& plan, int device) : file_(plan.trace) {
  if (!file_.empty()) {
    list_.add(trace_.emplace());
  }
  if (plan.telemetry) {
    list_.add(telemetry_.emplace(Telemetry::Setup{.device = device}));
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

void Observation::write_trace(const std::string& command) const {
  if (trace_) {
    write_atomically(file_, [&](std::ostream& file) { file << to_text(trace_->to_json(command)); });
  }
}

} // namespace diffbench::bench
