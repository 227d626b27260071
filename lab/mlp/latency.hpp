// SPDX-License-Identifier: Apache-2.0
// `diffbench mlp latency`: how long each engine takes from the rows of a small batch to the
// network's outputs, call by call, and what classic mistakes of measuring would have reported.
#pragma once

#include "diffbench/mlp/engine.hpp"
#include "lab_report.hpp"
#include "step_check.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct LatencyJob {
  mlp::Network network;
  std::vector<float> parameters;
  std::int64_t batch = 1;         ///< rows of a call
  std::int64_t repetitions = 300; ///< calls that are timed
  SessionOptions session;
};

struct LatencySummary {
  double mean = 0;
  double deviation = 0; ///< standard deviation
  double median = 0;
  std::optional<double> p99; ///< empty: of fewer than 100 times the 99th in 100 is the largest
  double min = 0;
  double max = 0;
};
/// Of at least one time.
[[nodiscard]] LatencySummary summarize_latencies(std::span<const double> seconds);

/// Bins of equal width on a logarithmic scale; the last one includes its upper edge.
struct Histogram {
  std::vector<double> edges;        ///< one more than bins
  std::vector<std::int64_t> counts; ///< of each bin
};
/// Of at least one time, all above 0.
[[nodiscard]] Histogram histogram_of(std::span<const double> seconds);

/// What a mistake makes of the latency, beside what it should have said.
struct Misreading {
  std::string_view name;
  std::string_view mistake; ///< what is taken for the latency
  double mistaken = 0;      ///< seconds
  double right = 0;
  std::string detail = {}; ///< figures of this run

  [[nodiscard]] double factor() const { return mistaken / right; }
};

/// Begin and end of a call in seconds, on a clock that does not jump.
struct CallTimes {
  double begin = 0;
  double end = 0;
};
/// What a clock that counts in ticks of `tick` seconds would have read for most of the calls, and
/// for how many of them one tick or more.
[[nodiscard]] Misreading with_coarse_clock(std::span<const CallTimes> calls, double tick);

/// What one engine, or one peer, showed; each sample is a call.
struct LatencyRow : NetRow {
  std::optional<double> output_error;
  double clock_cost = 0; ///< seconds between two readings, which each time includes
  std::vector<Misreading> misreadings;

  /// Of each call.
  [[nodiscard]] std::vector<double> latencies() const;
  void add_call(double seconds);
};
/// Keeps the error of the outputs. Throws Error when it is too large.
void accept_outputs(LatencyRow& row, double output_error);

/// Before the first call that counts: as many, and as long, so that code, caches, clock frequency
/// and power states are those of work under way.
inline constexpr int warm_calls = 10;
inline constexpr double warm_seconds = 0.05;

/// Batches that calls go through in turn, so that no two calls in a row are alike.
inline constexpr std::int64_t inputs_made = 64;

/// Proves the engine's outputs right, then times its calls, each on rows of its own; one that is
/// emulated has no times. After Ctrl-C the row has what was measured. Throws Unavailable for a
/// network that the engine cannot take, Error for wrong outputs, and what the engine throws.
void study_latency(LatencyRow& row, const mlp::EngineInfo& engine, const LatencyJob& job);

/// As study_latency(), for a peer: the same network, the same rows, the same warm-up, as many
/// calls; each timed by the child's own clock. No misreadings: those are of engines. Throws
/// Unavailable where the peer cannot be started, Error for wrong outputs.
void study_peer_latency(LatencyRow& row, const std::string& peer, int threads,
                        const LatencyJob& job);

[[nodiscard]] LabReport latency_report(const LatencyJob& job, std::span<const LatencyRow> rows);

} // namespace diffbench::bench
