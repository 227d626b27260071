// SPDX-License-Identifier: Apache-2.0
// Rung 110: the step as one pass of Thrust, and a small one that fills the ghost cells.
// Against `thrust_roll`: no temporaries, and two waits a step instead of eleven.
// Not measured on a GPU yet; derived: two launches and waits a step, about 10 to 20 us.
#include "thrust_cuda_session.hpp"

namespace diffbench::backends {

BackendInfo thrust_fused() {
  return kernels::thrust_fused_backend<kernels::ThrustPolicy::par>(
      "thrust_fused", "one pass of Thrust a step, and one for the ghost cells; waits for each",
      110);
}

} // namespace diffbench::backends
