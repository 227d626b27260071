// SPDX-License-Identifier: Apache-2.0
// Where the cells of a field lie in memory.
#pragma once

#include "diffbench/problem.hpp"

#include <cstdint>

namespace diffbench::kernels {

/// Cell (x, y) lies at first + y * pitch + x of `size` cells.
struct FieldLayout {
  std::int64_t pitch = 0;
  std::int64_t first = 0;
  std::int64_t size = 0;
};

/// Row after row, as in a NumPy array.
[[nodiscard]] inline FieldLayout dense_layout(const Problem& problem) {
  return {.pitch = problem.nx, .first = 0, .size = problem.cells()};
}

/// Every row on a boundary of 32 cells, so that a warp reads whole 128-byte lines.
[[nodiscard]] inline FieldLayout aligned_layout(const Problem& problem) {
  const std::int64_t pitch = (problem.nx + 31) / 32 * 32;
  return {.pitch = pitch, .first = 0, .size = pitch * problem.ny};
}

/// A ring of ghost cells round the grid: (nx+2) by (ny+2).
[[nodiscard]] inline FieldLayout ghosted_layout(const Problem& problem) {
  const std::int64_t pitch = problem.nx + 2;
  return {.pitch = pitch, .first = pitch + 1, .size = pitch * (problem.ny + 2)};
}

} // namespace diffbench::kernels
