// SPDX-License-Identifier: Apache-2.0
// What the result files of all commands have in common: context and benchmarks[]. They are Google
// Benchmark's format with a part of our own, so that its tools/compare.py reads them too.
#pragma once

#include "context.hpp"
#include "result.hpp"
#include "value.hpp"

#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// Version of the `diffbench` part. A field may be added; one that exists keeps its meaning.
inline constexpr int result_schema = 1;

/// Samples of one thing under one name.
struct SampleSeries {
  std::string name; ///< parts between slashes: "stencil/simd/float32/640x640"
  int threads = 1;
  std::vector<Sample> samples;
  /// Counters: what an iteration does, shown as a rate: {"bytes_per_second", bytes an iteration}.
  std::vector<std::pair<std::string, double>> per_iteration = {};
};

/// Local time with its offset from UTC, as RFC 3339 has it: "2026-11-24T23:05:12+00:00".
[[nodiscard]] std::string now_iso8601();
/// Of such a date, also without the colon; empty for any other text.
[[nodiscard]] std::optional<std::time_t> instant_of(const std::string& date);
/// "unknown" where the system does not tell.
[[nodiscard]] std::string host_name();

/// The whole file: the context of this process, an entry of Google Benchmark's format for each
/// sample (so that its tools can do statistics of their own), with mean, median, stddev and cv of
/// several, and `own` as `diffbench`.
[[nodiscard]] Value result_file(const Facts& context, const std::vector<SampleSeries>& series,
                                Value own);

/// As JSON with a final newline; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string to_text(const Value& value);

} // namespace diffbench::bench
