// SPDX-License-Identifier: Apache-2.0
// Rung 45: Thrust on the threads of the host, through its OpenMP device system.
// The step is the very one that `thrust_fused` runs on a GPU (src/thrust_steps.hpp): one call fills
// the ghost cells, one makes a pass over the flat field. Against `fused`, on one thread, it costs
// what two OpenMP regions cost, where the compiler vectorises Thrust's loop (GCC does); and it uses
// more threads at the price of a barrier for each call.
#include "thrust_host_session.hpp"

namespace diffbench::backends {

namespace {

namespace thrust = kernels::thrust;

template <typename T>
class ThrustHost final : public kernels::ThrustHostSession<T> {
 public:
  ThrustHost(const Problem& problem, const SessionOptions& options)
      : kernels::ThrustHostSession<T>(problem, options, kernels::ghosted_layout(problem)) {}

 private:
  void step(const kernels::Grid<T>& grid, T* now, T* next) override {
    kernels::fused_step(thrust::omp::par, grid, now, next);
  }
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  return {.host = 2 * kernels::ghosted_layout(problem).size * problem.element_bytes()};
}

} // namespace

BackendInfo thrust_host() {
  return {.name = "thrust_host",
          .description = "the step of thrust_fused on the CPU: Thrust's OpenMP system",
          .threaded = true,
          .ladder = 45,
          .memory_need = memory_need,
          .make_float32 = BackendInfo::construct<ThrustHost<float>>,
          .make_float64 = BackendInfo::construct<ThrustHost<double>>};
}

} // namespace diffbench::backends
