// SPDX-License-Identifier: Apache-2.0
// Rung 235: temporal blocking for fields far larger than the chip. Warps stream down strips of
// columns with eight time levels in registers; tiles of cuda_blocked only at edges.
// Against cuda_blocked: no shared memory, no barrier, and neighbours by shuffle.
// Gain: not measured on a GPU yet; docs/gpu.md derives it from counted instructions.
#include "tile_session.hpp"

namespace diffbench::backends {

BackendInfo cuda_streamed() {
  using kernels::TileKernel;
  return kernels::tile_backend<TileKernel::streamed, TileKernel::swapped>(
      "cuda_streamed", "CUDA, warps stream down strips, eight steps a launch in registers", 235);
}

} // namespace diffbench::backends
