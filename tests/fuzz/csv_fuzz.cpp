// SPDX-License-Identifier: Apache-2.0
// Any bytes as a table: the reader returns rows for training and for the test that keep their
// promises or throws InvalidInput.
#include "diffbench/mlp/data.hpp"
#include "promises.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

using namespace diffbench;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    const mlp::Split split = mlp::read_csv(file.path());
    require(split.train.features == split.test.features, "one table");
    require(split.train.classes == split.test.classes, "the same classes");
    for (const mlp::DataSet* set : {&split.train, &split.test}) {
      require(set->rows() >= 1 && set->features >= 1, "there are rows");
      require(set->values.size() == static_cast<std::size_t>(set->rows() * set->features),
              "the values are the rows'");
      require(std::ranges::all_of(set->values, [](float v) { return std::isfinite(v); }),
              "features are finite");
      require(std::ranges::all_of(set->labels, [&](auto l) { return l >= 0 && l < set->classes; }),
              "labels are classes");
    }
  } catch (const InvalidInput& error) {
    fuzz::require_printable(error);
  }
  return 0;
}
