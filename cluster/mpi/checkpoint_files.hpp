// Checkpoints of MPI's ranks, of which a build without parallel HDF5 has none.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/transport.hpp"

#include <memory>

namespace diffbench::cluster {

using MakeCheckpointFiles = std::unique_ptr<CheckpointFiles> (*)(Transport* transport);

/// Null without parallel HDF5. It wants an MpiTransport.
[[nodiscard]] MakeCheckpointFiles mpi_checkpoint_files();

} // namespace diffbench::cluster
