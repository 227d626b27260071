// SPDX-License-Identifier: Apache-2.0
// Checkpoints in HDF5: all of a file but its cells.
#include "checkpoint_hdf5.hpp"

#include "attributes.hpp"
#include "cell_types.hpp"
#include "file_image.hpp"
#include "handle.hpp"
#include "skeleton.hpp"

#include "diffbench/errors.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#include <hdf5.h>

namespace diffbench::cluster {

namespace {

// Throws Error unless u is as the facts say and lies in the file entirely. Where it begins.
std::int64_t place_of_cells(hid_t dataset, const Problem& problem, std::size_t file_bytes) {
  const Handle type(H5Dget_type(dataset), H5Tclose, "the type of u");
  if (H5Tequal(type.get(), file_type(problem.dtype)) <= 0) {
    throw Error("its dataset u is not of dtype " + std::string(to_string(problem.dtype)) +
                ", as its attribute says");
  }
  const Handle shape(H5Dget_space(dataset), H5Sclose, "the shape of u");
  std::array<hsize_t, 2> extent{};
  if (H5Sget_simple_extent_ndims(shape.get()) != 2 ||
      H5Sget_simple_extent_dims(shape.get(), extent.data(), nullptr) != 2 ||
      extent != std::array{hsize_t(problem.ny), hsize_t(problem.nx)}) {
    throw Error("its dataset u is not of shape (" + std::to_string(problem.ny) + ", " +
                std::to_string(problem.nx) + "), as its attributes say");
  }
  // Chunks, or cells in another file, have no offset.
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) {
    throw Error("its dataset u is not contiguous");
  }
  const auto bytes = static_cast<std::size_t>(problem.field_bytes());
  if (offset > file_bytes || bytes > file_bytes - offset) {
    throw Error("it is cut short: u needs " + std::to_string(bytes) + " bytes from byte " +
                std::to_string(offset) + " on, and the file has " + std::to_string(file_bytes));
  }
  return static_cast<std::int64_t>(offset);
}

class Hdf5Files : public CheckpointFiles {
 public:
  Hdf5Files() {
    start_hdf5();
    access_ = Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "the way to open files");
    // A file has its name to itself while it is written, and is not changed afterwards. Some shared
    // file systems cannot lock, and HDF5 would refuse them.
    checked(H5Pset_file_locking(access_.get(), false, true), "opening without locks");
  }

  std::int64_t create(const std::filesystem::path& path, const CheckpointFacts& facts) override {
    make_skeleton(path, facts);
    return place_cells(path, access_.get(), facts.problem.dtype);
  }

  CheckpointContent read(int descriptor) override {
    try {
      FileImage image(descriptor);
      const Handle file = image.open();
      CheckpointContent content{.facts = read_attributes(file.get())};
      if (H5Lexists(file.get(), "u", H5P_DEFAULT) <= 0) {
        throw Error("it has no dataset 'u'");
      }
      const Handle dataset(H5Dopen2(file.get(), "u", H5P_DEFAULT), H5Dclose,
                           "opening its dataset u");
      content.cells_at = place_of_cells(dataset.get(), content.facts.problem, image.bytes());
      return content;
    } catch (const Error& error) {
      throw InvalidInput(error.what());
    }
  }

 private:
  Handle access_; ///< file access property list
};

} // namespace

std::unique_ptr<CheckpointFiles> make_hdf5_files() { return std::make_unique<Hdf5Files>(); }

} // namespace diffbench::cluster
