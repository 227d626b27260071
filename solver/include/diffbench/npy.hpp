// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: 2D, little-endian, C order, float32 or float64.
// Format: numpy.lib.format, versions 1.0, 2.0 and 3.0.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <span>
#include <string>
#include <string_view>

namespace diffbench {

/// Shape and dtype of a file whose header was found good.
struct NpyHeader {
  std::int64_t nx = 0; ///< columns, the second extent of the shape
  std::int64_t ny = 0; ///< rows
  Dtype dtype = Dtype::float32;
  bool columns_first = false; ///< Fortran order: a column's cells lie together
};

/// Reads the header and leaves the stream at the data. `name` stands in the messages. Throws
/// InvalidInput for anything but a 2D, little-endian float32 or float64 array, for a
/// header over 1 MiB, and for extents outside [1, max_extent].
[[nodiscard]] NpyHeader read_npy_header(std::istream& stream, const std::filesystem::path& name);

/// Reads a whole file. Throws InvalidInput when it is missing, not such a file, of another dtype
/// than T, shorter or longer than its header says.
template <typename T>
[[nodiscard]] Field<T> read_npy(const std::filesystem::path& path);
/// The same into a field that is there: its memory stays where it is. Throws InvalidInput for
/// another shape, too; the cells are then as before, unless it was the reading of the data that
/// failed.
template <typename T>
void read_npy(const std::filesystem::path& path, Field<T>& field);

/// Rows [first, first + cells.size() / nx) alone of a file that holds nx by ny cells. Throws as
/// read_npy(), for another shape, too.
template <typename T>
void read_npy_rows(const std::filesystem::path& path, std::int64_t nx, std::int64_t ny,
                   std::int64_t first, std::span<T> cells);

/// What stands before the cells in a file of version 1.0.
[[nodiscard]] std::string npy_header(const NpyHeader& header, std::string_view comment = {});

/// Writes version 1.0. The file appears under its name only when it is complete: on failure Error
/// is thrown and nothing is left behind. Blocks until the data is handed to the system.
template <typename T>
void write_npy(const std::filesystem::path& path, const Field<T>& field);

} // namespace diffbench
