// The tables, the sentence and the JSON of `diffbench mlp latency`.
#pragma once

#include "lab_report.hpp"
#include "mlp/latency_study.hpp"

#include <span>

namespace diffbench::bench {

[[nodiscard]] LabReport latency_report(const LatencyJob& job, std::span<const LatencyRow> rows);

} // namespace diffbench::bench
