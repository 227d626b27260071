// SPDX-License-Identifier: Apache-2.0
// Checkpoints: the state of a run in one HDF5 file, which h5py reads.
//
// The file holds the dataset u[ny][nx] and, as attributes of the root group, what the run is and
// how far it has come. HDF5 makes all of it but the cells, and says where they lie: the ranks write
// and read those by the system's calls, each its own (checkpoint_rotation.hpp). HDF5 is in a module
// that is loaded when a checkpoint is written or read.
#pragma once

#include "diffbench/problem.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace diffbench::cluster {

/// What a checkpoint says of the field in it.
struct CheckpointFacts {
  Problem problem;
  std::int64_t step = 0; ///< time steps since the initial field
  std::string initial;   ///< that field, as --init names it
  std::string digest;    ///< of the cells and of these facts, see checkpoint_digest()
  std::string version;   ///< of the program that wrote it

  bool operator==(const CheckpointFacts&) const = default;
};

/// What is in a file, and where in it the cells begin: row-major, raw, of the problem's dtype, low
/// byte first.
struct CheckpointContent {
  CheckpointFacts facts;
  std::int64_t cells_at = 0; ///< bytes
};

/// Reads and writes what is in the files but the cells. No call is collective.
class CheckpointFiles {
 public:
  CheckpointFiles() = default;
  CheckpointFiles(const CheckpointFiles&) = delete;
  CheckpointFiles& operator=(const CheckpointFiles&) = delete;
  virtual ~CheckpointFiles() = default;

  /// Makes `file`, which is not there, with room for the cells, and closes it. Returns where they
  /// begin. Throws Error, without the name of the file, which may then be there in part.
  [[nodiscard]] virtual std::int64_t create(const std::filesystem::path& file,
                                            const CheckpointFacts& facts) = 0;
  /// Of an open file, whatever its name is meanwhile, whose bytes are known to be those that were
  /// written; all cells are in it. Throws InvalidInput, without the name of the file, for one that
  /// is no checkpoint of this program.
  [[nodiscard]] virtual CheckpointContent read(int descriptor) = 0;
};

} // namespace diffbench::cluster
