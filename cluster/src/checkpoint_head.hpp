// SPDX-License-Identifier: Apache-2.0
// How the file of a checkpoint begins: as a .npy file, which numpy.load() reads. The facts stand in
// its header as a comment behind the dict. The raw cells follow, which the ranks write and read by
// the system's calls, each its own, and the seal (checkpoint_seal.hpp).
#pragma once

#include "checkpoint_seal.hpp"

#include "diffbench/cluster/checkpoint.hpp"

#include <cstdint>
#include <string>

namespace diffbench::cluster {

struct CheckpointContent {
  CheckpointFacts facts;
  std::int64_t cells_at = 0; ///< bytes; row-major, of the problem's dtype, low byte first
};

/// All that stands before the cells.
[[nodiscard]] std::string checkpoint_head(const CheckpointFacts& facts);

/// Of an open file whose bytes are known to be those that were written; all cells are in it. Throws
/// InvalidInput, without the name of the file, for one that is no checkpoint of this program.
[[nodiscard]] CheckpointContent read_checkpoint(const ReadFile& file);

} // namespace diffbench::cluster
