// SPDX-License-Identifier: Apache-2.0
#include "skeleton.hpp"

#include "attributes.hpp"
#include "cell_types.hpp"
#include "handle.hpp"

#include "diffbench/errors.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

// HDF5 places the cells where it likes: behind a block of its own.
constexpr std::int64_t slack = 64 << 10;

void create_dataset(hid_t file, const Problem& problem) {
  const std::array<hsize_t, 2> field = {hsize_t(problem.ny), hsize_t(problem.nx)};
  const Handle shape(H5Screate_simple(2, field.data(), nullptr), H5Sclose, "the shape of u");
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "the layout of u");
  checked(H5Pset_layout(properties.get(), H5D_CONTIGUOUS), "the layout of u");
  // Not here in memory, but by place_cells(). All are written, so none is filled.
  checked(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_LATE), "the layout of u");
  checked(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER), "the layout of u");
  const Handle dataset(H5Dcreate2(file, "u", file_type(problem.dtype), shape.get(), H5P_DEFAULT,
                                  properties.get(), H5P_DEFAULT),
                       H5Dclose, "making the dataset u");
}

std::vector<std::byte> image(const CheckpointFacts& facts) {
  const Handle in_memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "a file in memory");
  checked(H5Pset_fapl_core(in_memory.get(), std::size_t{slack}, false), "a file in memory");
  const Handle file(H5Fcreate("skeleton", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get()), H5Fclose,
                    "a file in memory");
  write_attributes(file.get(), facts);
  create_dataset(file.get(), facts.problem);
  checked(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "a file in memory");
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  checked(size, "a file in memory");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  checked(H5Fget_file_image(file.get(), bytes.data(), bytes.size()), "a file in memory");
  return bytes;
}

[[noreturn]] void fail() { throw Error(std::generic_category().message(errno)); }

class NewFile {
 public:
  // O_EXCL: never through a link that somebody else laid here.
  explicit NewFile(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666)) {
    if (file_ < 0) {
      fail();
    }
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() { ::close(file_); }

  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) {
        fail();
      }
      bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
  }

  // Not posix_fallocate: where the file system cannot, that writes to every block.
  void reserve(std::int64_t bytes) const {
    int result = 0;
    do {
      result = ::fallocate(file_, 0, 0, bytes);
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
      fail();
    }
  }

 private:
  int file_;
};

} // namespace

void make_skeleton(const std::filesystem::path& path, const CheckpointFacts& facts) {
  const std::vector<std::byte> bytes = image(facts);
  const NewFile file(path);
  file.write(bytes);
  // HDF5 cuts off what it does not need when it closes the file.
  file.reserve(static_cast<std::int64_t>(bytes.size()) + facts.problem.field_bytes() + slack);
}

std::int64_t place_cells(const std::filesystem::path& path, hid_t access, Dtype dtype) {
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose, "opening it as HDF5");
  Handle dataset(H5Dopen2(file.get(), "u", H5P_DEFAULT), H5Dclose, "opening u");
  // HDF5 places all cells when the first one is written.
  constexpr std::array<hsize_t, 2> first = {0, 0};
  constexpr std::array<hsize_t, 2> one = {1, 1};
  const double zero = 0;
  const Handle in_file(H5Dget_space(dataset.get()), H5Sclose, "the shape of u");
  const Handle in_memory(H5Screate(H5S_SCALAR), H5Sclose, "the shape of a cell");
  checked(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, first.data(), nullptr, one.data(),
                              nullptr),
          "the selection of a cell");
  checked(
      H5Dwrite(dataset.get(), file_type(dtype), in_memory.get(), in_file.get(), H5P_DEFAULT, &zero),
      "writing a cell");
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) {
    throw Error("HDF5 does not say where the cells lie");
  }
  dataset.close("closing u");
  checked(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flushing it");
  file.close("closing it");
  return static_cast<std::int64_t>(offset);
}

} // namespace diffbench::cluster
