// SPDX-License-Identifier: Apache-2.0
// A copy by a kernel instead of a copy engine: what mapped memory is made for.
#pragma once

#include "diffbench/gpu/stream.hpp"

#include <cstddef>

namespace diffbench::gpu {

/// Copies in stream order and does not block. Both addresses are the device's and multiples of 16,
/// as is `bytes`. Throws CudaError.
void copy_by_kernel(const Stream& stream, void* to, const void* from, std::size_t bytes);

} // namespace diffbench::gpu
