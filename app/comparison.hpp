// SPDX-License-Identifier: Apache-2.0
// `diffbench [options]`: the comparison, which checks, measures and reports.
#pragma once

#include "assumed_card.hpp"
#include "comparison_plan.hpp"
#include "lab_report.hpp"
#include "observation.hpp"
#include "option_list.hpp"
#include "selection.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// All that it can be given.
struct ComparisonOptions : ComparisonPlan {
  RankPlan many;
  std::vector<std::string> gpu_options; ///< given ones that mean nothing without a GPU
  std::optional<AssumedCard> assumed;   ///< told below what was measured
  ObservationPlan observation;
  LabOutput output;
};

void declare_comparison(OptionList& options, ComparisonOptions& run);

/// Of the given rows. Results go to stdout and the files of `options`, hints and progress
/// to stderr. Returns the exit code; throws Error, InvalidInput, Unavailable, Interrupted or
/// OutputClosed.
[[nodiscard]] int run_comparison(const ComparisonOptions& options,
                                 std::span<const PlannedRow> planned_rows,
                                 const Invocation& invocation);

} // namespace diffbench::bench
