// SPDX-License-Identifier: Apache-2.0
// The module hdf5: what the program finds in hdf5.so.
#include "diffbench/cluster/module.hpp"

#include "checkpoint_hdf5.hpp"

extern "C" [[gnu::visibility("default")]] const diffbench::cluster::Module diffbench_cluster_module;
extern "C" const diffbench::cluster::Module diffbench_cluster_module = {
    .checkpoint_files = diffbench::cluster::make_hdf5_files};
