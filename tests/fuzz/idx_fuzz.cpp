// SPDX-License-Identifier: Apache-2.0
// Any bytes as an IDX file, plain or gzipped, of images and of labels: the reader returns a data
// set that keeps its promises or throws InvalidInput.
#include "diffbench/mlp/data.hpp"
#include "promises.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace diffbench;
using fuzz::MemoryFile;
using fuzz::require;

/// Three images of 2x2 pixels and their labels: the partner of the file that is tried.
const MemoryFile& good_images() {
  using namespace std::string_view_literals;
  static const MemoryFile file(
      "\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"
      "\x00\xff\x33\x00\x01\x02\x03\x04\xff\xff\xff\xff"sv);
  return file;
}
const MemoryFile& good_labels() {
  using namespace std::string_view_literals;
  static const MemoryFile file("\0\0\x08\x01\0\0\0\x03\x02\x00\x01"sv);
  return file;
}

void read(const MemoryFile& images, const MemoryFile& labels) {
  try {
    const mlp::DataSet set = mlp::read_idx(images.path(), labels.path());
    require(set.rows() == 3, "as many rows as the partner has");
    require(set.features >= 1 && set.values.size() == static_cast<std::size_t>(3 * set.features),
            "the values are the rows'");
    require(std::ranges::all_of(set.values, [](float v) { return v >= 0 && v <= 1; }),
            "pixels are 0 to 1");
    require(std::ranges::all_of(set.labels, [&](auto l) { return l >= 0 && l < set.classes; }),
            "labels are classes");
  } catch (const InvalidInput& error) {
    fuzz::require_printable(error);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file({reinterpret_cast<const char*>(data), size});
  read(file, good_labels());
  read(good_images(), file);
  return 0;
}
