// SPDX-License-Identifier: Apache-2.0
// What a sample of a duel in steps computes.
#pragma once

#include "diffbench/problem.hpp"
#include "value.hpp"

#include <cstdint>
#include <string>

namespace diffbench::bench {

/// Samples of equal work may be compared.
struct StepWork {
  std::int64_t nx = 0, ny = 0;
  std::int64_t iterations = 0; ///< time steps of a sample
  Dtype dtype = Dtype::float32;
};

/// "100 steps of 640x640 float32 cells".
[[nodiscard]] std::string to_text(const StepWork& work);

[[nodiscard]] Value work_json(const StepWork& work);

} // namespace diffbench::bench
