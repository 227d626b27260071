// SPDX-License-Identifier: Apache-2.0
// What happens round the writing of a checkpoint: the last two are kept, and a run that is killed,
// or whose disk is full, leaves complete ones behind.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace diffbench::cluster {

/// PATH.previous: the checkpoint before the one at PATH.
[[nodiscard]] std::filesystem::path previous_checkpoint(const std::filesystem::path& path);

/// See checkpoint_lock.hpp.
[[nodiscard]] std::filesystem::path checkpoint_lock_name(const std::filesystem::path& path);
/// All names that come and go beside `path`: PATH.previous and the hidden ones.
[[nodiscard]] std::vector<std::filesystem::path> checkpoint_companions(
    const std::filesystem::path& path);

/// Collective: writes a checkpoint, of which this rank's `rows`, raw cells of the problem's dtype,
/// begin at row `first_row` of the field, and when that is complete and on the disk, the one at
/// `path` becomes `path`.previous and the new one takes its place. Both names lie in one directory
/// that all ranks see. Without a transport (null) there is one rank. Returns when `path` is the new
/// one, on all ranks.
///
/// Throws on all ranks: InvalidInput where `path` is something else than a regular file, or in no
/// directory; Error when a rank cannot write. Then `path` is as it was, and no part of the new one
/// is left.
void save_checkpoint(Transport* transport, const std::filesystem::path& path,
                     const CheckpointFacts& facts, std::int64_t first_row,
                     std::span<const std::byte> rows);

/// Collective, for before a checkpoint is read. Throws InvalidInput, on all ranks, when it is not
/// there for one of them. `path`.previous never takes its place by itself: it is another state of
/// the run; the message says that it is there, and how to go on from it.
void require_checkpoint(Transport* transport, const std::filesystem::path& path);

} // namespace diffbench::cluster
