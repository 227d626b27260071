// SPDX-License-Identifier: Apache-2.0
// Telemetry for people and for programs.
#pragma once

#include "result.hpp"
#include "value.hpp"

#include <string>

namespace diffbench::bench {

/// A table of those figures that could be read, and a line for each source that could not; empty
/// without --telemetry.
[[nodiscard]] std::string format_telemetry(const ComparisonResult& result);

/// null without telemetry.
[[nodiscard]] Value telemetry_json(const std::optional<RowTelemetry>& row);
[[nodiscard]] Value telemetry_json(const std::optional<TelemetrySources>& telemetry);

} // namespace diffbench::bench
