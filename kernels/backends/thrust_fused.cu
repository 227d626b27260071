// Rung 110: the step as one pass of Thrust, and a small one that fills the ghost cells.
// Against `thrust_roll`: no temporaries, and two waits a step instead of eleven.
// Not measured on a GPU yet; derived: two launches and waits a step, about 10 to 20 us.
#include "thrust_cuda_session.cuh"

namespace diffbench::backends {

BackendInfo thrust_fused() {
  return {.name = "thrust_fused",
          .description = "one pass of Thrust a step, and one for the ghost cells; waits for each",
          .device = DeviceKind::cuda,
          .ladder = 110,
          .probe = gpu::probe_device,
          .memory_need = kernels::thrust_fused_memory_need,
          .make_float32 = kernels::make_thrust_fused<float, kernels::Synchronous>,
          .make_float64 = kernels::make_thrust_fused<double, kernels::Synchronous>};
}

} // namespace diffbench::backends
