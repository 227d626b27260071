// SPDX-License-Identifier: Apache-2.0
// Reading result files back: of this program, and of any other that writes Google Benchmark's
// format. They come from elsewhere, so nothing about them is taken for granted.
#pragma once

#include "diffbench/errors.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Whose files are welcome.
enum class Origin {
  ours,          ///< written by `--json` of this program: `diffbench.schema` is ours
  any_benchmark, ///< also what another program wrote by `--benchmark_out`
  any_times      ///< also what hyperfine wrote by `--export-json`
};

/// How much of a file is wanted.
enum class Detail {
  all,
  /// Without Google Benchmark's entries, and of lists of more than overview_length numbers
  /// (samples) as many as that, evenly chosen. Hundreds of megabytes of samples fit in little
  /// memory.
  overview
};
inline constexpr std::size_t overview_length = 1000;

/// The file is no result file, but another that diffbench wrote: what the page's live card saved
/// (docs/report.md), or a trace.
class OtherFile : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

/// `value[name]`; null where there is none, or `value` is no object.
[[nodiscard]] const nlohmann::ordered_json& member(const nlohmann::ordered_json& value,
                                                   std::string_view name);

/// The whole file. What is certain then: it is an object, `context` is an object, `benchmarks` an
/// array of objects, and where there is a `diffbench`, which Origin::ours demands, it is an object
/// of result_schema. A file of hyperfine has only `results`, an array of objects. Everything else
/// in it may be missing or of another type. Throws InvalidInput or OtherFile (one line: the file,
/// what is wrong, what to do).
[[nodiscard]] nlohmann::ordered_json read_result_file(const std::filesystem::path& path,
                                                      Origin origin, Detail detail = Detail::all);

} // namespace diffbench::bench
