// SPDX-License-Identifier: Apache-2.0
// Rung 230: temporal blocking. A launch advances every tile by `depth` steps in registers.
// Against cuda_graph: what a step costs beyond its arithmetic, a launch and a round trip through L2
// or memory, is paid once in `depth` steps, for some redundant work in the halos.
// Gain: not measured on a GPU yet; the model (docs/gpu.md) says 0.51 to 0.55 us a step at 640x640
// and 1230 to 1350 GCell/s at 16384x16384 (float32, H200).
#include "tile_session.hpp"

namespace diffbench::backends {

BackendInfo cuda_blocked() {
  using kernels::TileKernel;
  return kernels::tile_backend<TileKernel::blocked>(
      "cuda_blocked", "CUDA, several steps a launch in register tiles, from a graph", 230);
}

} // namespace diffbench::backends
