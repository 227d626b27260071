// SPDX-License-Identifier: Apache-2.0
// What a result file says of a run, for comparing it with another: of `diffbench --json`, of an
// experiment of the lab, of Google Benchmark, or of hyperfine.
#pragma once

#include "context.hpp"

#include <nlohmann/json_fwd.hpp>

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct RecordedRow {
  std::string name;            ///< of the backend, or of the benchmark
  std::vector<double> seconds; ///< per iteration, a sample each, in the order of the file
  double cpu_share = 1;        ///< as in RowInTwoRuns
  Facts provenance = {};       ///< threads, isa, ...
  std::string trouble = {};    ///< why there is no time
};

struct RecordedRun {
  bool disturbed = false;          ///< by other programs, as far as the file says
  std::optional<std::time_t> date; ///< when it was made; empty where the file does not say
  Facts machine; ///< what was measured with which program; empty values are left out
  Facts problem; ///< what was computed; empty for files that have no one problem
  std::vector<RecordedRow> rows;

  [[nodiscard]] const RecordedRow* find(std::string_view name) const;
};

/// Of a whole file, as read_result_file() gives it. It may have no row. Aggregates of Google
/// Benchmark are ignored: its repetitions are the samples.
[[nodiscard]] RecordedRun recorded_run(const nlohmann::ordered_json& json);

/// Throws InvalidInput as read_result_file() does, and for a file without any row.
[[nodiscard]] RecordedRun read_recorded_run(const std::filesystem::path& path);

} // namespace diffbench::bench
