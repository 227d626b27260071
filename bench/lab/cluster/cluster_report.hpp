// What `diffbench cluster` says.
#pragma once

#include "cluster_study.hpp"
#include "lab_report.hpp"
#include "prediction.hpp"

namespace diffbench::bench {

[[nodiscard]] LabReport cluster_report(const ClusterStudy& study);
[[nodiscard]] LabReport prediction_report(const ClusterPrediction& prediction);

} // namespace diffbench::bench
