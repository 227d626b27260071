// Rung 300: the best of the GPU for this problem: cuda_blocked or cuda_persistent, by the
// calibration of tile_plan.hpp. The row's provenance says which it picked.
#include "tile_session.hpp"

namespace diffbench::backends {

BackendInfo cuda() {
  using kernels::TileKernel;
  return kernels::tile_backend<TileKernel::blocked, TileKernel::persistent>(
      "cuda", "CUDA, whichever of cuda_blocked and cuda_persistent is faster here", 300);
}

} // namespace diffbench::backends
