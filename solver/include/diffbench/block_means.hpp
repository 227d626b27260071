// SPDX-License-Identifier: Apache-2.0
// A field in fewer cells, for pictures of it.
#pragma once

#include "diffbench/field.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diffbench {

/// Row-major; row 0 is that of the field.
struct BlockMeans {
  std::int64_t width = 0, height = 0;
  std::vector<double> values;
};

/// Means over blocks of `block` x `block` cells, those at the far edges smaller. `block` > 0.
template <typename T>
[[nodiscard]] BlockMeans block_means(const Field<T>& field, std::int64_t block) {
  BlockMeans means{(field.nx() + block - 1) / block, (field.ny() + block - 1) / block, {}};
  means.values.reserve(static_cast<std::size_t>(means.width * means.height));
  std::vector<double> sums(static_cast<std::size_t>(means.width));
  for (std::int64_t top = 0; top < field.ny(); top += block) {
    const std::int64_t bottom = std::min(top + block, field.ny());
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t y = top; y < bottom; ++y) { // along rows, as they lie in memory
      const T* cell = field.row(y);
      for (std::int64_t left = 0; left < field.nx(); left += block) {
        double& sum = sums[static_cast<std::size_t>(left / block)];
        for (const T* const end = cell + std::min(block, field.nx() - left); cell != end; ++cell) {
          sum += static_cast<double>(*cell);
        }
      }
    }
    for (std::int64_t x = 0; x < means.width; ++x) {
      const std::int64_t columns = std::min(block, field.nx() - x * block);
      means.values.push_back(sums[static_cast<std::size_t>(x)] /
                             static_cast<double>(columns * (bottom - top)));
    }
  }
  return means;
}

} // namespace diffbench
