// Files that are written are opened and closed by all ranks together, as the parallel library wants
// it; cells are moved by each rank for itself, and each reads for itself. After each step all agree
// on whether it went well (agreement.hpp): so all unwind from the same place, and a file that is
// collective is closed by all.
#include "checkpoint_hdf5.hpp"

#include "attributes.hpp"
#include "cell_types.hpp"
#include "skeleton.hpp"

#include "diffbench/cluster/agreement.hpp"
#include "diffbench/errors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace diffbench::cluster {

namespace {

namespace fs = std::filesystem;

// Part of a rank's rows: some full rows, or, where one is too long, part of one. Contiguous in
// memory.
struct Piece {
  std::array<hsize_t, 2> first{}; ///< row and column in the field
  std::array<hsize_t, 2> extent{};
  std::int64_t offset = 0; ///< in the rank's rows, bytes
};

class Pieces {
 public:
  Pieces(const Problem& problem, std::int64_t first_row, std::size_t bytes,
         std::int64_t piece_bytes)
      : first_row_(first_row),
        nx_(problem.nx),
        element_(problem.element_bytes()),
        rows_(static_cast<std::int64_t>(bytes) / (nx_ * element_)) {
    rows_in_piece_ = std::max<std::int64_t>(piece_bytes / (nx_ * element_), 1);
    columns_in_piece_ = std::min(nx_, std::max<std::int64_t>(piece_bytes / element_, 1));
    across_ = (nx_ + columns_in_piece_ - 1) / columns_in_piece_;
  }

  [[nodiscard]] std::int64_t count() const {
    return (rows_ + rows_in_piece_ - 1) / rows_in_piece_ * across_;
  }
  [[nodiscard]] Piece operator[](std::int64_t i) const {
    const std::int64_t row = i / across_ * rows_in_piece_;
    const std::int64_t column = i % across_ * columns_in_piece_;
    return {{hsize_t(first_row_ + row), hsize_t(column)},
            {hsize_t(std::min(rows_in_piece_, rows_ - row)),
             hsize_t(std::min(columns_in_piece_, nx_ - column))},
            (row * nx_ + column) * element_};
  }

 private:
  std::int64_t first_row_;
  std::int64_t nx_;
  std::int64_t element_;
  std::int64_t rows_;
  std::int64_t rows_in_piece_ = 1;
  std::int64_t columns_in_piece_ = 1;
  std::int64_t across_ = 1; ///< pieces that make a row
};

// Which cells of the dataset a call moves, and which of a buffer that begins with them.
struct Selection {
  Selection(const Problem& problem, const Piece& piece) {
    const std::array<hsize_t, 2> field = {hsize_t(problem.ny), hsize_t(problem.nx)};
    in_file = Handle(H5Screate_simple(2, field.data(), nullptr), H5Sclose, "the shape of u");
    const hsize_t cells = piece.extent[0] * piece.extent[1];
    in_memory = Handle(H5Screate_simple(1, &cells, nullptr), H5Sclose, "the shape of the rows");
    checked(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, piece.first.data(), nullptr,
                                piece.extent.data(), nullptr),
            "the selection of rows");
  }

  Handle in_file;
  Handle in_memory;
};

// Throws Error unless u is as the facts say and lies in the file entirely.
void check_dataset(hid_t dataset, const Problem& problem, std::uintmax_t file_bytes) {
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
  const auto bytes = static_cast<std::uintmax_t>(problem.field_bytes());
  if (offset > file_bytes || bytes > file_bytes - offset) {
    throw Error("it is cut short: u needs " + std::to_string(bytes) + " bytes from byte " +
                std::to_string(offset) + " on, and the file has " + std::to_string(file_bytes));
  }
}

// Ranks on other machines may have another file system under that name, or another user's rights.
void require_access(const fs::path& path, int mode) {
  if (::access(path.c_str(), mode) != 0) {
    throw Error(std::generic_category().message(errno));
  }
}

std::uintmax_t size_of_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw Error("there is no such file; check the path");
  }
  if (!fs::is_regular_file(status)) {
    throw Error("it is not a regular file; name a checkpoint");
  }
  require_access(path, R_OK);
  return fs::file_size(path, error);
}

// A checkpoint that is read.
struct OpenCheckpoint {
  void open(const fs::path& path, hid_t access, std::uintmax_t bytes) {
    file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "opening it as HDF5");
    facts = read_attributes(file.get());
    if (H5Lexists(file.get(), "u", H5P_DEFAULT) <= 0) {
      throw Error("it has no dataset 'u'");
    }
    dataset = Handle(H5Dopen2(file.get(), "u", H5P_DEFAULT), H5Dclose, "opening its dataset u");
    check_dataset(dataset.get(), facts.problem, bytes);
  }

  Handle file;
  CheckpointFacts facts;
  Handle dataset;
};

// What `step` returns; its errors are those of an input.
template <typename Step>
auto reading(const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    throw InvalidInput(error.what());
  }
}

class Hdf5Files : public CheckpointFiles {
 public:
  Hdf5Files(Hdf5Access access, Transport* transport)
      : access_(std::move(access)), transport_(transport) {}

  void write(const fs::path& path, const CheckpointFacts& facts, std::int64_t first_row,
             std::span<const std::byte> rows) override {
    Handle file;
    Handle dataset;
    for_writing(path, [&] {
      if (transport_ == nullptr || transport_->rank() == 0) {
        make_skeleton(path, facts);
      }
    });
    for_writing(path, [&] { require_access(path, R_OK | W_OK); });
    for_writing(path, [&] {
      file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access_.file.get()), H5Fclose,
                    "opening it as HDF5");
      dataset = Handle(H5Dopen2(file.get(), "u", H5P_DEFAULT), H5Dclose, "opening u");
    });
    const Pieces pieces(facts.problem, first_row, rows.size(), access_.piece_bytes);
    for (std::int64_t i = 0, calls = most(pieces.count()); i < calls; ++i) {
      for_writing(path, [&] {
        if (i < pieces.count()) {
          const Piece piece = pieces[i];
          const Selection selection(facts.problem, piece);
          checked(
              H5Dwrite(dataset.get(), memory_type(facts.problem.dtype), selection.in_memory.get(),
                       selection.in_file.get(), access_.transfer.get(), rows.data() + piece.offset),
              "writing the rows");
        }
      });
    }
    for_writing(path, [&] {
      dataset.close("closing u");
      checked(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flushing it");
      file.close("closing it");
    });
  }

  CheckpointFacts read_facts(const fs::path& path) override {
    kept_path_.clear();
    kept_ = {};
    return reading([&] {
      kept_ = open(path);
      kept_path_ = path;
      return kept_.facts;
    });
  }

  void read_rows(const fs::path& path, std::int64_t first_row, std::span<std::byte> rows) override {
    reading([&] {
      OpenCheckpoint another;
      if (path != kept_path_) {
        another = open(path);
      }
      const OpenCheckpoint& checkpoint = path == kept_path_ ? kept_ : another;
      const Problem& problem = checkpoint.facts.problem;
      check_rows(problem, first_row, rows.size());
      const Pieces pieces(problem, first_row, rows.size(), access_.piece_bytes);
      for (std::int64_t i = 0; i < pieces.count(); ++i) {
        const Piece piece = pieces[i];
        const Selection selection(problem, piece);
        checked(
            H5Dread(checkpoint.dataset.get(), memory_type(problem.dtype), selection.in_memory.get(),
                    selection.in_file.get(), H5P_DEFAULT, rows.data() + piece.offset),
            "reading the rows");
      }
    });
  }

 private:
  // One step in which all ranks take part; its errors get the name of the file.
  template <typename Step>
  void for_writing(const fs::path& path, const Step& step) {
    collectively(transport_, [&] {
      try {
        step();
      } catch (const Error& error) {
        throw Error("cannot write checkpoint '" + path.string() + "': " + error.what() +
                    "; it needs a writable directory with free space");
      }
    });
  }
  // Each rank for itself, also in the parallel library: cells are read where they lie.
  [[nodiscard]] OpenCheckpoint open(const fs::path& path) const {
    const std::uintmax_t bytes = size_of_file(path);
    OpenCheckpoint checkpoint;
    checkpoint.open(path, by_this_process_.file.get(), bytes);
    return checkpoint;
  }

  static void check_rows(const Problem& problem, std::int64_t first_row, std::size_t bytes) {
    const auto row_bytes = static_cast<std::size_t>(problem.nx * problem.element_bytes());
    const auto rows = static_cast<std::int64_t>(bytes / row_bytes);
    if (bytes % row_bytes != 0 || first_row < 0 || first_row > problem.ny ||
        rows > problem.ny - first_row) {
      throw Error("its rows are " + std::to_string(problem.ny) + " of " +
                  std::to_string(row_bytes) + " bytes; " + std::to_string(bytes) +
                  " bytes from row " + std::to_string(first_row) + " on are not among them");
    }
  }

  // The largest of the ranks' counts: all agree that often, and none waits for another's whole
  // share.
  std::int64_t most(std::int64_t count) {
    if (transport_ == nullptr) {
      return count;
    }
    std::vector<std::int64_t> counts(static_cast<std::size_t>(transport_->size()));
    transport_->all_gather(std::as_bytes(std::span(&count, 1)),
                           std::as_writable_bytes(std::span(counts)));
    return *std::max_element(counts.begin(), counts.end());
  }

  Hdf5Access access_;
  Hdf5Access by_this_process_ = serial_access();
  Transport* transport_;
  // What read_facts() has opened, for read_rows(): HDF5 opens no file that has lost its name since.
  OpenCheckpoint kept_;
  fs::path kept_path_;
};

} // namespace

Hdf5Access serial_access() {
  start_hdf5();
  Hdf5Access access;
  access.file = Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "the way to open files");
  // A file has its name to itself while it is written, and is not changed afterwards. Some shared
  // file systems cannot lock, and HDF5 would refuse them.
  checked(H5Pset_file_locking(access.file.get(), false, true), "opening without locks");
  return access;
}

std::unique_ptr<CheckpointFiles> make_checkpoint_files(Hdf5Access access, Transport* transport) {
  return std::make_unique<Hdf5Files>(std::move(access), transport);
}

} // namespace diffbench::cluster
