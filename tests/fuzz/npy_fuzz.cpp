// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file: the reader returns a field that fits them or throws InvalidInput with a
// message that is fit to print. Any other exception ends the program, which the fuzzer reports.
#include "diffbench/npy.hpp"
#include "promises.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using diffbench::Field;
using diffbench::InvalidInput;
using diffbench::NpyHeader;
using diffbench::fuzz::MemoryFile;
using diffbench::fuzz::require;
using diffbench::fuzz::require_printable;

std::optional<NpyHeader> read_header(std::string_view bytes) {
  std::istringstream stream{std::string(bytes)};
  try {
    return diffbench::read_npy_header(stream, "fuzz.npy");
  } catch (const InvalidInput& error) {
    require_printable(error);
    return std::nullopt;
  }
}

template <typename T>
void read_whole(std::string_view bytes, const std::optional<NpyHeader>& header) {
  const MemoryFile file(bytes);
  try {
    const Field<T> field = diffbench::read_npy<T>(file.path());
    require(header && header->dtype == diffbench::dtype_of<T>, "only its own dtype is read");
    require(field.nx() == header->nx && field.ny() == header->ny, "the shape is the header's");
    std::vector<T> cells(field.cells().begin(), field.cells().end());
    if (header->columns_first) {
      for (std::int64_t i = 0; i < field.nx() * field.ny(); ++i) {
        cells[static_cast<std::size_t>(i)] = field.row(i % field.ny())[i / field.ny()];
      }
    }
    require(bytes.ends_with(std::string_view(reinterpret_cast<const char*>(cells.data()),
                                             cells.size() * sizeof(T))),
            "the cells are the end of the file");
  } catch (const InvalidInput& error) {
    require_printable(error);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<NpyHeader> header = read_header(bytes);
  if (header) {
    require(header->nx >= 1 && header->nx <= diffbench::max_extent, "nx is within its bounds");
    require(header->ny >= 1 && header->ny <= diffbench::max_extent, "ny is within its bounds");
  }
  read_whole<float>(bytes, header);
  read_whole<double>(bytes, header);
  return 0;
}
