// The JSON of `diffbench transfer`, both ways: what a run writes is what --replay reads.
#pragma once

#include "result_file.hpp"
#include "transfer_result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace diffbench::bench {

/// Everything that was found, with the figures that follow from it.
[[nodiscard]] nlohmann::ordered_json to_json(const TransferResult& result);
/// The samples as entries of Google Benchmark's format: "transfer/host/memcpy/65536/threads:2".
[[nodiscard]] std::vector<SampleSeries> sample_series(const TransferResult& result);

/// Reads what to_json() wrote; figures that follow from the samples are not read but made again.
/// Throws InvalidInput, without naming the file, for anything else.
[[nodiscard]] TransferResult transfer_from_json(const nlohmann::ordered_json& json);

} // namespace diffbench::bench
