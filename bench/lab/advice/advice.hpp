// SPDX-License-Identifier: Apache-2.0
// What the model says about one run: every way to make it, and from where on the GPU pays.
// Arithmetic only.
#pragma once

#include "cost_profile.hpp"
#include "diffbench/backend.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// One way to run it.
struct AdvisedWay {
  std::string backend;
  DeviceKind device = DeviceKind::cpu;
  int threads = 1; ///< that it was calibrated with
  Prediction prediction;
  std::optional<MemoryNeed> need; ///< with the caller's field; empty: not in this build, or no sum
  bool fits = true;               ///< the host's part, in what is free there
};

/// Which of the two runs counts.
enum class RunKind { warm, cold };

/// From where on the fastest GPU way beats the fastest CPU way, all else as in the run.
struct PaysFrom {
  std::optional<double> side;             ///< of a square grid; empty: up to the largest tried not
  std::optional<std::int64_t> iterations; ///< empty: never
  /// Least steps between two round trips of the field; empty: not even where it stays.
  std::optional<std::int64_t> stay;
};

struct Advice {
  RunShape run;
  std::vector<AdvisedWay> ways; ///< by warm time, the fastest first
  bool any_cpu = false;
  bool any_gpu = false;
  PaysFrom warm, cold; ///< meaningful with both

  [[nodiscard]] bool compares_devices() const { return any_cpu && any_gpu; }
};

[[nodiscard]] double seconds_of(const Prediction& prediction, RunKind kind);

/// The fastest way that fits, of that device; nullptr without any.
[[nodiscard]] const AdvisedWay* fastest(const Advice& advice, RunKind kind, DeviceKind device);

/// `run` by all `ways`, which are of one dtype.
[[nodiscard]] Advice advise(std::span<const WayCost> ways, const RunShape& run);

} // namespace diffbench::bench
