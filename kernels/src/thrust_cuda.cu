// SPDX-License-Identifier: Apache-2.0
#include "thrust_cuda.hpp"

#include "diffbench/gpu/error.hpp"
#include "thrust_steps.hpp"

#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>

namespace diffbench::kernels {

namespace {

/// Runs `work`, which calls Thrust.
template <typename Work>
void call_thrust(const char* what, Work work) {
  try {
    work();
  } catch (const thrust::system_error& error) {
    gpu::check(static_cast<cudaError_t>(error.code().value()), what);
    throw; // of another kind
  }
}

} // namespace

// (Thrust's default policy waits for the default stream, which our copies do not use.)
template <typename T>
void thrust_fused_step(const gpu::Stream& stream, ThrustPolicy policy, const Grid<T>& grid, T* now,
                       T* next) {
  call_thrust("thrust::for_each and thrust::tabulate", [&] {
    if (policy == ThrustPolicy::par) {
      fused_step(thrust::cuda::par.on(stream.get()), grid, now, next);
    } else {
      fused_step(thrust::cuda::par_nosync.on(stream.get()), grid, now, next);
    }
  });
}

template <typename T>
void thrust_roll_step(const gpu::Stream& stream, const Grid<T>& grid, const T* now, T* next,
                      T* rolled, T* lap) {
  call_thrust("thrust::tabulate and thrust::transform",
              [&] { roll_step(thrust::cuda::par.on(stream.get()), grid, now, next, rolled, lap); });
}

template void thrust_fused_step(const gpu::Stream&, ThrustPolicy, const Grid<float>&, float*,
                                float*);
template void thrust_fused_step(const gpu::Stream&, ThrustPolicy, const Grid<double>&, double*,
                                double*);
template void thrust_roll_step(const gpu::Stream&, const Grid<float>&, const float*, float*, float*,
                               float*);
template void thrust_roll_step(const gpu::Stream&, const Grid<double>&, const double*, double*,
                               double*, double*);

} // namespace diffbench::kernels
