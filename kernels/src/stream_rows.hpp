// SPDX-License-Identifier: Apache-2.0
// The launch of stream_rows.cuh, for cuda_stream and cuda_graph.
#pragma once

#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/launch.hpp"
#include "diffbench/gpu/stream.hpp"
#include "kernels.hpp"

#include <algorithm>

namespace diffbench::kernels {

/// Issues one step from `in` to `out`. Does not block. Throws gpu::CudaError.
template <typename T>
void launch_stream_rows(const gpu::Stream& stream, const gpu::Device& device, const Grid<T>& grid,
                        const T* in, T* out) {
  constexpr int warps = 4;
  constexpr std::int64_t most_rows = 16;
  const std::int64_t row_blocks = blocks(grid.nx, warp_lanes * Quad<T>::count);
  // As many rows a warp as leave every multiprocessor 16 warps, since one more row is loaded above
  // and below them; and as few as the blocks of a launch can cover.
  const std::int64_t wanted_warps = std::max(1, 16 * device.multiprocessors);
  const std::int64_t few =
      std::clamp(grid.ny * row_blocks / wanted_warps, std::int64_t{1}, most_rows);
  const std::int64_t needed = blocks(grid.ny, std::int64_t{warps} * device.most_blocks_y);
  const auto rows = static_cast<int>(std::max(few, needed));
  gpu::launch(stream,
              {.grid = dim3(static_cast<unsigned>(row_blocks), blocks(grid.ny, rows * warps)),
               .block = dim3(warp_lanes, warps)},
              step_kernels<T>().stream_rows, grid, rows, in, out);
}

} // namespace diffbench::kernels
