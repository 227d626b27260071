// SPDX-License-Identifier: Apache-2.0
// Rung 15: the NumPy line in Thrust's algorithms, on the threads of the host.
// The step is the very one that `thrust_roll` runs on a GPU (src/thrust_steps.hpp): eleven passes
// over the field with two temporaries. Slower than `xtensor_roll`: Thrust sees cells, not rows, so
// each of the four rolls divides once a cell to find out where it is, which takes 90 % of the time.
#include "thrust_host_session.hpp"

namespace diffbench::backends {

namespace {

namespace thrust = kernels::thrust;

template <typename T>
class ThrustHostRoll final : public kernels::ThrustHostSession<T> {
 public:
  ThrustHostRoll(const Problem& problem, const SessionOptions& options)
      : kernels::ThrustHostSession<T>(problem, options, kernels::dense_layout(problem)),
        rolled_(problem.cells(), stagger_of(1)),
        lap_(problem.cells(), stagger_of(2)) {}

 private:
  void step(const kernels::Grid<T>& grid, T* now, T* next) override {
    kernels::roll_step(thrust::omp::par, grid, now, next, rolled_.data(), lap_.data());
  }

  AlignedArray<T> rolled_;
  AlignedArray<T> lap_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  return {.host = 4 * problem.field_bytes()};
}

} // namespace

BackendInfo thrust_host_roll() {
  return {
      .name = "thrust_host_roll",
      .description = "the step of thrust_roll on the CPU: eleven passes by Thrust's OpenMP system",
      .threaded = true,
      .ladder = 15,
      .teaching = true,
      .memory_need = memory_need,
      .make_float32 = BackendInfo::construct<ThrustHostRoll<float>>,
      .make_float64 = BackendInfo::construct<ThrustHostRoll<double>>};
}

} // namespace diffbench::backends
