// SPDX-License-Identifier: Apache-2.0
// A random-looking field that C++ and NumPy make alike, without a random generator in common:
// Knuth's multiplicative hash of the cell's index (The Art of Computer Programming, vol. 3, 6.4),
// scaled to [0, 1).
#pragma once

#include "diffbench/field.hpp"

#include <cstdint>

namespace diffbench::golden {

template <typename T>
Field<T> hashed_field(std::int64_t nx, std::int64_t ny) {
  Field<T> field(nx, ny);
  std::uint32_t hash = 0;
  for (T& cell : field.cells()) {
    cell = static_cast<T>(static_cast<double>(hash) * 0x1p-32);
    hash += 2654435761U;
  }
  return field;
}

} // namespace diffbench::golden
