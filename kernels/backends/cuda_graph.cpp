// SPDX-License-Identifier: Apache-2.0
// Rung 220: the same kernel as cuda_stream, many steps recorded in a CUDA graph.
// Against cuda_stream: the host issues one graph instead of up to 128 launches, and the device goes
// from one kernel to the next without asking.
// Gain: not measured on a GPU yet; published costs say 1.6 us a step instead of 2.8 at 640x640.
#include "grid_session.hpp"
#include "repeated_graph.hpp"
#include "stream_rows.hpp"

#include <algorithm>

namespace diffbench::backends {

namespace {

template <typename T>
class CudaGraphSession final : public kernels::GridSession<T> {
 public:
  using kernels::GridSession<T>::GridSession;

 protected:
  void enqueue(std::int64_t steps) override {
    while (steps > 0) {
      const std::int64_t part = std::min(steps, steps_per_graph());
      graphs_.launch(this->stream(), this->field(), part,
                     [this](std::int64_t count) { issue(count); });
      steps -= part;
    }
  }

  [[nodiscard]] typename kernels::GridSession<T>::Details details() const override {
    return {{"steps_per_graph", std::to_string(steps_per_graph())}};
  }

 private:
  // Recording takes the host as long as issuing, and a graph of more nodes gains little. None takes
  // longer than a fifth of a second on a card that moves 200 GB/s: Ctrl-C waits for it, and a
  // system with a screen on the card resets that after two.
  [[nodiscard]] std::int64_t steps_per_graph() const {
    constexpr std::int64_t most_bytes = 40'000'000'000;
    return std::clamp<std::int64_t>(most_bytes / (2 * this->problem().field_bytes()), 1, 128);
  }

  void issue(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
      kernels::launch_stream_rows(this->stream(), this->device(), this->grid(), this->now(),
                                  this->next());
      this->swap_fields();
    }
  }

  kernels::RepeatedGraph<T> graphs_;
};

} // namespace

BackendInfo cuda_graph() {
  return kernels::cuda_backend<CudaGraphSession<float>, CudaGraphSession<double>>(
      "cuda_graph", "CUDA, the kernel of cuda_stream, up to 128 steps a graph", 220);
}

} // namespace diffbench::backends
