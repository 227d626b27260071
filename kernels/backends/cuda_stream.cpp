// SPDX-License-Identifier: Apache-2.0
// Rung 210: the good single-step kernel, one launch a step in a stream.
// Against cuda_naive: 16-byte accesses, rows streamed through registers (each cell loaded once),
// horizontal neighbours by shuffle.
// Gain: not measured on a GPU yet. Far beyond L2 it should reach the copy bandwidth at 8 bytes a
// cell (float32); at 640x640 it is bound by the launch like cuda_naive.
#include "grid_session.hpp"
#include "stream_rows.hpp"

namespace diffbench::backends {

namespace {

template <typename T>
class CudaStreamSession final : public kernels::GridSession<T> {
 public:
  using kernels::GridSession<T>::GridSession;

 protected:
  void enqueue(std::int64_t steps) override {
    for (std::int64_t step = 0; step < steps; ++step) {
      kernels::launch_stream_rows(this->stream(), this->device(), this->grid(), this->now(),
                                  this->next());
      this->swap_fields();
    }
  }
};

} // namespace

BackendInfo cuda_stream() {
  return kernels::cuda_backend<CudaStreamSession<float>, CudaStreamSession<double>>(
      "cuda_stream", "CUDA, 16-byte rows through registers, one launch a step", 210);
}

} // namespace diffbench::backends
