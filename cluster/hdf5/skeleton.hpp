// A checkpoint without its cells: the file with all facts and room for the dataset u.
//
// HDF5 1.10 is not made for a full disk: when a file cannot be closed for that reason, its clean-up
// at the exit of the program crashes (handle.cpp leaves that out), and in the parallel library only
// the rank that writes is told, while the others go on. So it meets none: the small part is made in
// memory and written by plain system calls, and the room for the cells is reserved with it.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"

#include <filesystem>

namespace diffbench::cluster {

/// Makes `path`, which is not there, on the rank that calls. A file system that cannot reserve (NFS
/// before 4.2) has the cells meet its limits later. Throws Error without the name of the file,
/// which may then be there in part.
void make_skeleton(const std::filesystem::path& path, const CheckpointFacts& facts);

} // namespace diffbench::cluster
