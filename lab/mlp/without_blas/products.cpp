// SPDX-License-Identifier: Apache-2.0
#include "mlp/timed_steps.hpp"

#include "diffbench/errors.hpp"

namespace diffbench::bench {

std::unique_ptr<TimedSteps> products_steps(int /*threads*/, const TrainingJob& /*job*/) {
  throw Unavailable(
      "this build found no OpenBLAS; apt-get install libopenblas-dev and configure "
      "again");
}

} // namespace diffbench::bench
