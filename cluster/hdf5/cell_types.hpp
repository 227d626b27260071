// HDF5's types of a cell.
#pragma once

#include "diffbench/problem.hpp"

#include <hdf5.h>

namespace diffbench::cluster {

inline hid_t file_type(Dtype dtype) {
  return dtype == Dtype::float32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}
inline hid_t memory_type(Dtype dtype) {
  return dtype == Dtype::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

} // namespace diffbench::cluster
