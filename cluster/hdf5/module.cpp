// The module `hdf5`: checkpoints of one process.
#include "diffbench/cluster/module.hpp"

#include "checkpoint_hdf5.hpp"

namespace {

using namespace diffbench::cluster;

std::unique_ptr<CheckpointFiles> checkpoint_files(Transport*) {
  return make_checkpoint_files(serial_access(), nullptr);
}

} // namespace

extern "C" [[gnu::visibility("default")]] const Module diffbench_cluster_module;
extern "C" const Module diffbench_cluster_module = {.checkpoint_files = checkpoint_files};
