// SPDX-License-Identifier: Apache-2.0
// What a checkpoint says of the field in it.
#pragma once

#include "diffbench/problem.hpp"

#include <cstdint>
#include <string>

namespace diffbench::cluster {

struct CheckpointFacts {
  Problem problem;
  std::int64_t step = 0; ///< time steps since the initial field
  std::string initial;   ///< that field, as --init names it
  std::string version;   ///< of the program that wrote it

  bool operator==(const CheckpointFacts&) const = default;
};

} // namespace diffbench::cluster
