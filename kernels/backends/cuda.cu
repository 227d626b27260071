// Rung 300: the best of the GPU for this problem: cuda_blocked or cuda_persistent, by the
// calibration of tile_plan.hpp. The row's provenance says which it picked.
#include "grid_session.hpp"
#include "tile_session.hpp"

#include <array>

namespace diffbench::backends {

namespace {

constexpr std::array tile_kernels = {kernels::TileKernel::blocked, kernels::TileKernel::persistent};

template <typename T>
class CudaSession final : public kernels::TileSession<T> {
 public:
  CudaSession(const Problem& problem, const SessionOptions& options)
      : kernels::TileSession<T>(problem, options, tile_kernels) {}
};

} // namespace

BackendInfo cuda() {
  return kernels::cuda_backend<CudaSession>(
      "cuda", "CUDA, whichever of cuda_blocked and cuda_persistent is faster here", 300);
}

} // namespace diffbench::backends
