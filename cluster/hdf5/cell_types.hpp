// SPDX-License-Identifier: Apache-2.0
// HDF5's type of a cell.
#pragma once

#include "diffbench/problem.hpp"

#include <bit>

#include <hdf5.h>

namespace diffbench::cluster {

// The ranks write cells as they lie in memory.
static_assert(std::endian::native == std::endian::little);

inline hid_t file_type(Dtype dtype) {
  return dtype == Dtype::float32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

} // namespace diffbench::cluster
