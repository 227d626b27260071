// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "stream_rows.cuh"
#include "streamed.cuh"
#include "tile_kernels.cuh"

namespace diffbench::kernels {

template <typename T>
StepKernels<T> step_kernels() {
  return {.stream_rows = stream_rows_step<T>,
          .blocked = blocked_steps<T>,
          .streamed = streamed_steps<T, false>,
          .swapped = streamed_steps<T, true>,
          .persistent = persistent_steps<T>,
          .numbered = numbered_steps<T>};
}

template StepKernels<float> step_kernels();
template StepKernels<double> step_kernels();

} // namespace diffbench::kernels
