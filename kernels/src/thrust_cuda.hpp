// SPDX-License-Identifier: Apache-2.0
// Time steps in Thrust's algorithms on the GPU: what nvcc compiles of the Thrust backends. In one
// object, since Thrust's headers cost nvcc more than what is made of them.
#pragma once

#include "diffbench/gpu/stream.hpp"
#include "grid.hpp"

namespace diffbench::kernels {

/// The policy of Thrust's calls.
enum class ThrustPolicy {
  par,        ///< Thrust waits for the stream after every call
  par_nosync, ///< it goes on, wherever the result does not have to be on the host
};

/// fused_step and roll_step of thrust_steps.hpp, on a stream. They throw gpu::CudaError when Thrust
/// reports one.
template <typename T>
void thrust_fused_step(const gpu::Stream& stream, ThrustPolicy policy, const Grid<T>& grid, T* now,
                       T* next);
template <typename T>
void thrust_roll_step(const gpu::Stream& stream, const Grid<T>& grid, const T* now, T* next,
                      T* rolled, T* lap);

} // namespace diffbench::kernels
