// SPDX-License-Identifier: Apache-2.0
// Rung 120: as `thrust_fused`, with the policy par_nosync: Thrust no longer waits after each call.
// Against `thrust_fused`: the same kernels; the host runs ahead, so a step costs two launches and
// no wait. Not measured on a GPU yet; derived: about 5 us a step.
#include "thrust_cuda_session.hpp"

namespace diffbench::backends {

BackendInfo thrust_nosync() {
  return kernels::thrust_fused_backend<kernels::ThrustPolicy::par_nosync>(
      "thrust_nosync", "thrust_fused without Thrust's wait after every call (par_nosync)", 120);
}

} // namespace diffbench::backends
