// Rung 200: one cell a thread, one launch a step.
// Against thrust_nosync: a kernel of our own, with two-dimensional blocks, so that a block's
// neighbours in y are in the L1 cache. Five loads and one store a cell.
// Gain: not measured on a GPU yet. At 640x640 a step is bound by the launch, about 2.5 us.
#include "diffbench/gpu/launch.hpp"
#include "grid_session.hpp"
#include "naive.cuh"

namespace diffbench::backends {

namespace {

template <typename T>
class CudaNaiveSession final : public kernels::GridSession<T> {
 public:
  using kernels::GridSession<T>::GridSession;

 protected:
  void enqueue(std::int64_t steps) override {
    const kernels::Grid<T> grid = this->grid();
    const gpu::LaunchShape shape{
        .grid = dim3(kernels::blocks(grid.nx, 32), kernels::blocks(grid.ny, 8)),
        .block = dim3(32, 8)};
    for (std::int64_t step = 0; step < steps; ++step) {
      gpu::launch(this->stream(), shape, kernels::naive_step<T>, grid, this->now(), this->next());
      this->swap_fields();
    }
  }
};

} // namespace

BackendInfo cuda_naive() {
  return kernels::cuda_backend<CudaNaiveSession>("cuda_naive",
                                                 "CUDA, one cell a thread, one launch a step", 200);
}

} // namespace diffbench::backends
