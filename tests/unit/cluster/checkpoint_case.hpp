// SPDX-License-Identifier: Apache-2.0
// A small checkpoint with a value of its own in each fact and each cell.
#pragma once

#include "diffbench/cluster/checkpoint.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace diffbench::cluster {

inline CheckpointFacts sample_facts(Dtype dtype, std::int64_t nx, std::int64_t ny) {
  CheckpointFacts facts;
  facts.problem = {nx, ny, 0.5, 1.25, 0.03125, Boundary::dirichlet, -0.1, dtype};
  facts.step = 123'456'789'012;
  facts.initial = "gauss:0.3, with an umlaut \xc3\xa4";
  facts.version = "0.1.0 (test)";
  return facts;
}

// Cell i is i + 1/3, rounded to the dtype.
inline std::vector<std::byte> sample_rows(const Problem& problem) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(problem.field_bytes()));
  for (std::int64_t i = 0; i < problem.cells(); ++i) {
    const double value = static_cast<double>(i) + 1.0 / 3;
    const auto narrow = static_cast<float>(value);
    const void* const from =
        problem.dtype == Dtype::float32 ? static_cast<const void*>(&narrow) : &value;
    std::memcpy(bytes.data() + i * problem.element_bytes(), from,
                static_cast<std::size_t>(problem.element_bytes()));
  }
  return bytes;
}

} // namespace diffbench::cluster
