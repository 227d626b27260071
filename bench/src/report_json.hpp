// The result file of a comparison.
#pragma once

#include "result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace diffbench::bench {

/// context, benchmarks[] (one entry a sample) and diffbench{}. A number that is not known is null;
/// there is never a NaN or an infinity in it.
[[nodiscard]] nlohmann::ordered_json to_json(const ComparisonResult& result);

/// The same as text with a final newline.
[[nodiscard]] std::string format_json(const ComparisonResult& result);

} // namespace diffbench::bench
