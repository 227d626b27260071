// SPDX-License-Identifier: Apache-2.0
// All that `diffbench [options]` can be given for a comparison.
#pragma once

#include "assumed_card.hpp"
#include "comparison_plan.hpp"
#include "lab_report.hpp"
#include "observation.hpp"
#include "option_list.hpp"
#include "record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

struct ComparisonOptions : ComparisonPlan {
  RankPlan many;
  std::vector<std::string> gpu_options; ///< given ones that mean nothing without a GPU
  RecordPlan record;
  std::optional<AssumedCard> assumed; ///< told below what was measured
  ObservationPlan observation;
  LabOutput output;
  bool bars = true; ///< where stdout is a terminal
};

void declare_comparison(OptionList& options, ComparisonOptions& run);

} // namespace diffbench::bench
