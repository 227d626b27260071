// SPDX-License-Identifier: Apache-2.0
// The module mpi: what the program finds in mpi.so.
#include "diffbench/cluster/module.hpp"

#include "mpi_transport.hpp"

#include <memory>

namespace {

using namespace diffbench::cluster;

std::unique_ptr<Transport> connect(double limit_seconds) {
  return std::make_unique<MpiTransport>(limit_seconds);
}

} // namespace

extern "C" [[gnu::visibility("default")]] const Module diffbench_cluster_module;
extern "C" const Module diffbench_cluster_module = {.connect = connect};
