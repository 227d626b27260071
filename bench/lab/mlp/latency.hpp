// `diffbench mlp latency`: how long a network takes to answer, on every engine, and what classic
// mistakes would have reported.
#pragma once

#include "lab_report.hpp"
#include "latency_study.hpp"

#include <span>

namespace diffbench::bench {

[[nodiscard]] LabReport latency_report(const LatencyJob& job, std::span<const LatencyRow> rows);

} // namespace diffbench::bench
