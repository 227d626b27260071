// SPDX-License-Identifier: Apache-2.0
// Result files as lines of one table, so that a spreadsheet can take many runs.
#pragma once

#include "value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace diffbench::bench {

/// The verb without a name, as an experiment.
inline constexpr const char* comparison_name = "comparison";
/// What the part `diffbench` of a result file is of: an experiment of the lab, or comparison_name.
[[nodiscard]] std::string experiment_of(const nlohmann::ordered_json& own);
/// What the experiment found; of a comparison its results. Null where there is nothing.
[[nodiscard]] const nlohmann::ordered_json& results_of(const nlohmann::ordered_json& own);

/// Adds a line a result, for csv_of(): `file`, the experiment, the command, then the members of the
/// result and those of what it is part of, as the problem of a comparison or the size of a network;
/// where both have one of a name, the result's counts. `own` is as read_result_file() checks it.
void add_result_lines(const std::string& file, const nlohmann::ordered_json& own, Value& lines);

} // namespace diffbench::bench
