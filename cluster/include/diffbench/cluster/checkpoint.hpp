// Checkpoints: the state of a run in one HDF5 file, h5py reads it, written by all ranks at once.
//
// The file holds the dataset u[ny][nx] and, as attributes of the root group, what the run is and
// how far it has come. HDF5 is in a module that is loaded when a checkpoint is written or read: the
// parallel library where MPI is, the serial one elsewhere, from the same source
// (checkpoint_hdf5.cpp).
#pragma once

#include "diffbench/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace diffbench::cluster {

class Transport;

/// What a checkpoint says of the field in it.
struct CheckpointFacts {
  Problem problem;
  std::int64_t step = 0; ///< time steps since the initial field
  std::string initial;   ///< that field, as --init names it
  std::string digest;    ///< of the cells, see field_digest.hpp
  std::string version;   ///< of the program that wrote it

  bool operator==(const CheckpointFacts&) const = default;
};

/// Reads and writes the files.
class CheckpointFiles {
 public:
  CheckpointFiles() = default;
  CheckpointFiles(const CheckpointFiles&) = delete;
  CheckpointFiles& operator=(const CheckpointFiles&) = delete;
  virtual ~CheckpointFiles() = default;

  /// Collective. Makes `file`, which is not there: this rank's `rows`, raw cells of the problem's
  /// dtype, begin at row `first_row` of the field. Flushed and closed when it returns. Throws Error
  /// on all ranks when one of them cannot; the file may then be there in part.
  virtual void write(const std::filesystem::path& file, const CheckpointFacts& facts,
                     std::int64_t first_row, std::span<const std::byte> rows) = 0;
  /// Of each rank for itself, of a file whose bytes are known to be those that were written. Throws
  /// InvalidInput, without the name of the file, for one that is not there or is no checkpoint of
  /// this program.
  [[nodiscard]] virtual CheckpointFacts read_facts(const std::filesystem::path& file) = 0;
  /// Rows [first_row, first_row + rows.size() / row bytes) of the field, from the file that
  /// read_facts() has opened by that name, if it was the last. Throws as read_facts().
  virtual void read_rows(const std::filesystem::path& file, std::int64_t first_row,
                         std::span<std::byte> rows) = 0;
};

} // namespace diffbench::cluster
