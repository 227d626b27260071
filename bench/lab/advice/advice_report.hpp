// Advice and its check as tables, a sentence and JSON.
#pragma once

#include "advice.hpp"
#include "comparison_options.hpp"
#include "lab_report.hpp"
#include "prediction_check.hpp"

#include <span>

namespace diffbench::bench {

/// The table of all ways, the sentence, and the same as data.
[[nodiscard]] LabReport report_advice(const Advice& advice, const CostProfile& profile,
                                      const Options& options);

/// Adds the predictions beside their measurements, and how large the errors are.
void append_check(LabReport& report, std::span<const CheckedPrediction> checked);

} // namespace diffbench::bench
