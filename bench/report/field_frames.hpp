// SPDX-License-Identifier: Apache-2.0
// The snapshots of a run as a film for the report page.
#pragma once

#include <filesystem>
#include <string>

namespace diffbench::bench {

/// The files step_*.npy of a directory, in the order of the steps, as the text of an element of the
/// page. At most 60 of them, evenly chosen; fields with more than 160 cells in a direction are
/// averaged over square blocks; values have 16 bits between the least and the largest one. Reads
/// one file at a time. Throws InvalidInput when there are none, or they are not of one run.
[[nodiscard]] std::string field_part(const std::filesystem::path& directory);

} // namespace diffbench::bench
