// SPDX-License-Identifier: Apache-2.0
// Rung 240: many steps in one launch. The field stays in registers; every `depth` steps the blocks
// exchange the rings of their tiles through memory, and wait for their neighbours' flags or, where
// that is quicker, for halos that carry their own.
// Against cuda_blocked: flags instead of a launch, and only halos are loaded again. Only for
// grids that fit on the chip, one tile a resident block; refuses others. Gain: not measured on a
// GPU yet; the model (docs/gpu.md) says 0.31 to 0.38 us a step at 640x640 (float32, H200).
#include "tile_session.hpp"

namespace diffbench::backends {

BackendInfo cuda_persistent() {
  using kernels::TileKernel;
  return kernels::tile_backend<TileKernel::persistent, TileKernel::numbered>(
      "cuda_persistent", "CUDA, one cooperative launch, field on chip, halos exchanged", 240);
}

} // namespace diffbench::backends
