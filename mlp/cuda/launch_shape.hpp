// SPDX-License-Identifier: Apache-2.0
// Launches of one thread for each of a number of things.
#pragma once

#include "diffbench/gpu/launch.hpp"

#include <cstdint>

namespace diffbench::mlp::cuda {

/// At least `count` threads, and at least one warp.
[[nodiscard]] inline gpu::LaunchShape threads_for(std::int64_t count, int block = 256) {
  const std::int64_t blocks = count <= block ? 1 : (count + block - 1) / block;
  return {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(static_cast<unsigned>(block))};
}

} // namespace diffbench::mlp::cuda
