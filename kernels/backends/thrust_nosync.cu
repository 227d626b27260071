// Rung 120: as `thrust_fused`, with the policy par_nosync: Thrust no longer waits after each call.
// Against `thrust_fused`: the same kernels; the host runs ahead, so a step costs two launches and
// no wait. Not measured on a GPU yet; derived: about 5 us a step.
#include "thrust_cuda_session.cuh"

namespace diffbench::backends {

BackendInfo thrust_nosync() {
  return {.name = "thrust_nosync",
          .description = "thrust_fused without Thrust's wait after every call (par_nosync)",
          .device = DeviceKind::cuda,
          .ladder = 120,
          .probe = gpu::probe_device,
          .memory_need = kernels::thrust_fused_memory_need,
          .make_float32 = kernels::make_thrust_fused<float, kernels::Asynchronous>,
          .make_float64 = kernels::make_thrust_fused<double, kernels::Asynchronous>};
}

} // namespace diffbench::backends
