// The launch of stream_rows.cuh, shared by cuda_stream and cuda_graph.
#pragma once

#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/launch.hpp"
#include "step.cuh"
#include "stream_rows.cuh"

#include <algorithm>

namespace diffbench::kernels {

template <typename T>
void launch_stream_rows(const gpu::Stream& stream, const gpu::Device& device, const Grid<T>& grid,
                        const T* in, T* out) {
  constexpr int warps = 4;
  constexpr int most_rows = 16;
  const auto row_blocks = static_cast<int>(blocks(grid.nx, warp_lanes * Quad<T>::count));
  // As many rows a warp as leave every multiprocessor 16 warps; one more row is loaded above and
  // below them.
  const int wanted = 16 * device.multiprocessors;
  const int rows = std::clamp(
      static_cast<int>(static_cast<std::int64_t>(grid.ny) * row_blocks / std::max(1, wanted)), 1,
      most_rows);
  gpu::launch(stream,
              {.grid = dim3(static_cast<unsigned>(row_blocks), blocks(grid.ny, rows * warps)),
               .block = dim3(warp_lanes, warps)},
              stream_rows_step<T>, grid, rows, in, out);
}

} // namespace diffbench::kernels
