// SPDX-License-Identifier: Apache-2.0
// Advice and its check as tables, a sentence and JSON.
#pragma once

#include "advice.hpp"
#include "lab_report.hpp"
#include "prediction_check.hpp"

#include <span>

namespace diffbench::bench {

/// The table of all ways, the sentence, and the same as data.
[[nodiscard]] LabReport advice_report(const Advice& advice, const CostProfile& profile,
                                      const Problem& problem);

/// Where half of the predictions are off by more, the profile is no longer that of the machine. A
/// quiet one is off by some 5 % (docs/lab.md).
inline constexpr double check_bar = 0.15;

/// Adds the predictions beside their measurements, how large the errors are, and what to do where
/// they are beyond check_bar.
void append_check(LabReport& report, std::span<const CheckedPrediction> checked);

} // namespace diffbench::bench
