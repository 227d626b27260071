// The file is one of all ranks, and opened and closed by all; cells are moved by each rank for
// itself. In collective transfers, Open MPI 4.1 leaves the other ranks waiting for ever when the
// disk of one is full. Rows are contiguous and of no two ranks, so there is nothing to collect
// either.
#include "parallel_access.hpp"

namespace diffbench::cluster {

Hdf5Access parallel_access(MPI_Comm communicator) {
  start_hdf5();
  Hdf5Access access;
  access.file = Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "the way to open files");
  checked(H5Pset_fapl_mpio(access.file.get(), communicator, MPI_INFO_NULL), "MPI-IO");
  access.transfer = Handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "the way to move data");
  checked(H5Pset_dxpl_mpio(access.transfer.get(), H5FD_MPIO_INDEPENDENT), "MPI-IO");
  access.piece_bytes = std::int64_t{64} << 20; // within the ranks' time limit, one after the other
  return access;
}

} // namespace diffbench::cluster
