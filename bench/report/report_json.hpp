// SPDX-License-Identifier: Apache-2.0
// What a result file says of a comparison.
#pragma once

#include "picture.hpp"
#include "result.hpp"
#include "result_file.hpp"
#include "statistics.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// All that was found, but for sentence and notes.
[[nodiscard]] Value to_json(const ComparisonResult& result);

// Its parts, for the files of experiments that are comparisons, too.
[[nodiscard]] Value row_heads();
/// Its rows as lines of a table, for csv_of().
[[nodiscard]] Value csv_lines(const ComparisonResult& result);
/// Of its rows, which are in the list `rows`; times of steps, of runs and their phases.
[[nodiscard]] std::vector<Picture> row_pictures(const ComparisonResult& result,
                                                const std::string& rows = "results");
[[nodiscard]] Value problem_json(const ComparisonResult& result);
[[nodiscard]] Value row_json(const ComparisonResult& result, const Row& row);
[[nodiscard]] Value provenance_json(const Provenance& provenance);
[[nodiscard]] Value interval_json(const std::optional<Interval>& interval);
[[nodiscard]] Value width_json(const std::optional<Width>& width);
/// Of a time, or of the time over another one; null where nobody disturbed them.
[[nodiscard]] Value width_json(std::span<const Sample> samples,
                               std::span<const Sample> reference = {});
/// Named "FAMILY/ROW/DTYPE/NXxNY".
[[nodiscard]] SampleSeries sample_series(const Problem& problem, const Row& row,
                                         std::string_view family);

} // namespace diffbench::bench
