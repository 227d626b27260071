// SPDX-License-Identifier: Apache-2.0
// Checkpoints in HDF5.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"

#include <memory>

namespace diffbench::cluster {

/// Throws Error.
[[nodiscard]] std::unique_ptr<CheckpointFiles> make_hdf5_files();

} // namespace diffbench::cluster
