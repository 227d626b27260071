// SPDX-License-Identifier: Apache-2.0
// The digest in a checkpoint: of its cells and of what is said of them. The seal
// (checkpoint_seal.hpp) finds that bytes of the file have changed; this one also finds that
// somebody has edited the file with HDF5 and sealed it again.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/field_digest.hpp"

namespace diffbench::cluster {

/// That of the cells and, behind the last one, of a text: all facts but the digest, a line each,
/// in the order and by the names of the attributes. docs/cluster.md says how numbers are written.
[[nodiscard]] FieldDigest checkpoint_digest(const CheckpointFacts& facts, const FieldDigest& cells);

} // namespace diffbench::cluster
