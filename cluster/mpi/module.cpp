// The module mpi: what the program finds in mpi.so.
#include "diffbench/cluster/module.hpp"

#include "checkpoint_files.hpp"
#include "mpi_transport.hpp"

#include <memory>

namespace {

using namespace diffbench::cluster;

std::unique_ptr<Transport> connect() { return std::make_unique<MpiTransport>(); }

} // namespace

extern "C" [[gnu::visibility("default")]] const Module diffbench_cluster_module;
extern "C" const Module diffbench_cluster_module = {.connect = connect,
                                                    .checkpoint_files = mpi_checkpoint_files()};
