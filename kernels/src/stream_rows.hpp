// The launch of stream_rows.cuh, for cuda_stream and cuda_graph. Kernels are compiled in one object
// only (tile_session.hpp says why).
#pragma once

#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/stream.hpp"
#include "grid.hpp"

namespace diffbench::kernels {

/// Issues one step from `in` to `out`. Does not block. Throws gpu::CudaError.
template <typename T>
void launch_stream_rows(const gpu::Stream& stream, const gpu::Device& device, const Grid<T>& grid,
                        const T* in, T* out);
extern template void launch_stream_rows(const gpu::Stream&, const gpu::Device&, const Grid<float>&,
                                        const float*, float*);
extern template void launch_stream_rows(const gpu::Stream&, const gpu::Device&, const Grid<double>&,
                                        const double*, double*);

} // namespace diffbench::kernels
