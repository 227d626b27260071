#include "checkpoint_files.hpp"

#include "hdf5/checkpoint_hdf5.hpp"
#include "hdf5/parallel_access.hpp"
#include "mpi_transport.hpp"

namespace diffbench::cluster {

MakeCheckpointFiles mpi_checkpoint_files() {
  return [](Transport* transport) {
    return make_checkpoint_files(
        parallel_access(static_cast<MpiTransport*>(transport)->communicator()), transport);
  };
}

} // namespace diffbench::cluster
