// Checkpoints in HDF5, one source for the serial and the parallel library: which of them it is
// shows only in the property lists that it is given (parallel_access.hpp makes those for MPI).
#pragma once

#include "handle.hpp"

#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/transport.hpp"

#include <cstdint>
#include <memory>

namespace diffbench::cluster {

/// How files are opened and data is moved.
struct Hdf5Access {
  Handle file;     ///< file access property list
  Handle transfer; ///< data transfer property list
  /// The largest piece of a rank's rows that one call moves: MPI-IO counts bytes in an int.
  std::int64_t piece_bytes = std::int64_t{1} << 30;
};

/// One process, serial or parallel library. Throws Error.
[[nodiscard]] Hdf5Access serial_access();

/// `transport` is that of all ranks that `access` joins, null for one process; it must outlive the
/// files.
[[nodiscard]] std::unique_ptr<CheckpointFiles> make_checkpoint_files(Hdf5Access access,
                                                                     Transport* transport);

} // namespace diffbench::cluster
