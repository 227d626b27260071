// SPDX-License-Identifier: Apache-2.0
// The facts of a checkpoint as attributes of the root group of its file.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"

#include <hdf5.h>

namespace diffbench::cluster {

/// `file` is an open file. Throws Error.
void write_attributes(hid_t file, const CheckpointFacts& facts);
/// Throws Error, without the name of the file, for one that is missing, of another type or beyond
/// its range.
[[nodiscard]] CheckpointFacts read_attributes(hid_t file);

} // namespace diffbench::cluster
