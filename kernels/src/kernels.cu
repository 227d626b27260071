#include "kernels.hpp"

#include "naive.cuh"
#include "stream_rows.cuh"
#include "tile_kernels.cuh"

namespace diffbench::kernels {

template <typename T>
StepKernels<T> step_kernels() {
  constexpr int small_width = 16 / sizeof(T);
  constexpr int large_height = 32 / sizeof(T);
  return {.naive = naive_step<T>,
          .stream_rows = stream_rows_step<T>,
          .blocked_small = blocked_steps<T, small_width, 4, 640>,
          .blocked_large = blocked_steps<T, 4, large_height, 512>,
          .persistent_small = persistent_steps<T, small_width, 4, 640>};
}

template StepKernels<float> step_kernels();
template StepKernels<double> step_kernels();

} // namespace diffbench::kernels
