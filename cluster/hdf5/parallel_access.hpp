// For builds with parallel HDF5: all ranks of a communicator on one file.
#pragma once

#include "checkpoint_hdf5.hpp"

#include <mpi.h>

namespace diffbench::cluster {

/// Files are opened and closed by all ranks of `communicator` together; data is moved by each rank
/// for itself (MPI-IO, independent). The communicator must outlive what is made of it. Throws
/// Error.
[[nodiscard]] Hdf5Access parallel_access(MPI_Comm communicator);

} // namespace diffbench::cluster
