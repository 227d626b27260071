// SPDX-License-Identifier: Apache-2.0
// The kernels as the host sees them: addresses to give to gpu::launch.
//
// kernels.cu alone is compiled by nvcc, which reads a source once for the host and once more for
// each architecture; the sessions that launch kernels are the host compiler's. That all are in one
// object matters besides: nvcc gives the host's side of a kernel template internal linkage, so
// another object would have kernels of its own, with attributes of their own (nvcc,
// -static-global-template-stub).
#pragma once

#include "grid.hpp"

#include <cstdint>

namespace diffbench::kernels {

/// Each is described where it is defined: stream_rows.cuh, streamed.cuh, tile_kernels.cuh.
template <typename T>
struct StepKernels {
  void (*stream_rows)(Grid<T>, int rows, const T* in, T* out);
  void (*blocked)(Grid<T>, Area, TileShape, int steps, const T* in, T* out);
  void (*streamed)(Grid<T>, Area, StripShape, const T* in, T* out);
  void (*swapped)(Grid<T>, Area, StripShape, const T* in, T* out);
  void (*persistent)(Grid<T>, TileShape, std::int64_t steps, T* a, T* b, unsigned* flags);
  void (*numbered)(Grid<T>, TileShape, std::int64_t steps, const T* in, T* out,
                   PacketBuffers buffers, unsigned number);
};

template <typename T>
[[nodiscard]] StepKernels<T> step_kernels();
extern template StepKernels<float> step_kernels();
extern template StepKernels<double> step_kernels();

} // namespace diffbench::kernels
