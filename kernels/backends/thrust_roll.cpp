// SPDX-License-Identifier: Apache-2.0
// Rung 100: the NumPy line in Thrust's algorithms on the GPU, word for word: eleven passes over the
// field (roll_step of src/thrust_steps.hpp), each of which Thrust waits for. What a first port of
// NumPy code looks like.
// Its temporaries are made once, not in every step as NumPy's are: with an allocation in each step
// there would be little else to see.
// Not measured on a GPU yet; derived: 11 launches and waits a step, about 100 us.
#include "device_session.hpp"
#include "thrust_cuda.hpp"

#include <memory>

namespace diffbench::backends {

namespace {

template <typename T>
class ThrustRoll final : public kernels::DeviceSession<T> {
 public:
  ThrustRoll(const Problem& problem, const SessionOptions& options)
      : kernels::DeviceSession<T>(problem, options, kernels::dense_layout(problem),
                                  2 * problem.field_bytes()),
        rolled_(this->allocating([&] { return gpu::DeviceArray<T>(problem.cells()); })),
        lap_(this->allocating([&] { return gpu::DeviceArray<T>(problem.cells()); })) {}
  ~ThrustRoll() override { this->finish(); }

 private:
  void enqueue(std::int64_t steps) override {
    const kernels::Grid<T> grid =
        kernels::grid_of<T>(this->problem(), this->field().layout().pitch);
    for (std::int64_t i = 0; i < steps; ++i) {
      kernels::thrust_roll_step(this->stream(), grid, this->field().now(), this->field().next(),
                                rolled_.data(), lap_.data());
      this->field().swap();
    }
  }

  gpu::DeviceArray<T> rolled_;
  gpu::DeviceArray<T> lap_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& options) {
  return kernels::device_memory_need(problem, options, kernels::dense_layout(problem),
                                     2 * problem.field_bytes());
}

} // namespace

BackendInfo thrust_roll() {
  return {.name = "thrust_roll",
          .description = "the NumPy expression in Thrust's algorithms: eleven passes a step",
          .device = DeviceKind::cuda,
          .ladder = 100,
          .probe = gpu::probe_device,
          .memory_need = memory_need,
          .make_float32 = BackendInfo::construct<ThrustRoll<float>>,
          .make_float64 = BackendInfo::construct<ThrustRoll<double>>};
}

} // namespace diffbench::backends
