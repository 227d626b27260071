// SPDX-License-Identifier: Apache-2.0
// Rung 300: the best of the GPU for this problem: cuda_blocked, cuda_streamed or cuda_persistent,
// by the calibration of tile_plan.hpp. The row's provenance says which it picked.
#include "tile_session.hpp"

namespace diffbench::backends {

BackendInfo cuda() {
  using kernels::TileKernel;
  return kernels::tile_backend<TileKernel::blocked, TileKernel::streamed, TileKernel::swapped,
                               TileKernel::persistent, TileKernel::numbered>(
      "cuda", "CUDA, the fastest here of cuda_blocked, cuda_streamed, cuda_persistent", 300);
}

} // namespace diffbench::backends
