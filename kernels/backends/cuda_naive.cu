// SPDX-License-Identifier: Apache-2.0
// Rung 200: one cell a thread, one launch a step.
// Against thrust_nosync: a kernel of our own, with two-dimensional blocks, so that a block's
// neighbours in y are in the L1 cache. Five loads and one store a cell.
// Gain: not measured on a GPU yet. At 640x640 a step is bound by the launch, about 2.5 us.
#include "diffbench/gpu/launch.hpp"
#include "grid_session.hpp"
#include "naive.cuh"

#include <algorithm>

namespace diffbench::backends {

namespace {

template <typename T>
class CudaNaiveSession final : public kernels::GridSession<T> {
 public:
  using kernels::GridSession<T>::GridSession;

 protected:
  void enqueue(std::int64_t steps) override {
    const kernels::Grid<T> grid = this->grid();
    // One launch a step, but for grids of more rows than the blocks of a launch cover: half a
    // million.
    constexpr int block_rows = 8;
    const std::int64_t most = std::int64_t{block_rows} * this->device().most_blocks_y;
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::int64_t first = 0; first < grid.ny; first += most) {
        const std::int64_t rows = std::min(grid.ny - first, most);
        gpu::launch(this->stream(),
                    {.grid = dim3(kernels::blocks(grid.nx, 32), kernels::blocks(rows, block_rows)),
                     .block = dim3(32, block_rows)},
                    kernels::naive_step<T>, grid, static_cast<int>(first), this->now(),
                    this->next());
      }
      this->swap_fields();
    }
  }
};

} // namespace

BackendInfo cuda_naive() {
  return kernels::cuda_backend<CudaNaiveSession<float>, CudaNaiveSession<double>>(
      "cuda_naive", "CUDA, one cell a thread, one launch a step", 200);
}

} // namespace diffbench::backends
