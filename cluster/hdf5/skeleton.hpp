// SPDX-License-Identifier: Apache-2.0
// A checkpoint without its cells: the file with all facts and room for the dataset u.
//
// HDF5 1.10 is not made for a full disk: when a file cannot be closed for that reason, its clean-up
// at the exit of the program crashes (handle.cpp leaves that out). So it meets none: the small part
// is made in memory and written by plain system calls, and the room for the cells is reserved with
// it.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"

#include <cstdint>
#include <filesystem>

#include <hdf5.h>

namespace diffbench::cluster {

/// Makes `path`, which is not there. A file system that cannot reserve (NFS
/// before 4.2) has the cells meet its limits later. Throws Error without the name of the file,
/// which may then be there in part.
void make_skeleton(const std::filesystem::path& path, const CheckpointFacts& facts);

/// Gives the cells of a skeleton their place, and returns it: the byte in the file where they
/// begin. `access` is how HDF5 opens files. Throws Error.
[[nodiscard]] std::int64_t place_cells(const std::filesystem::path& path, hid_t access,
                                       Dtype dtype);

} // namespace diffbench::cluster
