// SPDX-License-Identifier: Apache-2.0
// A load that a test plants, or leaves out, for as long as this lives.
#pragma once

#include "foreign_load.hpp"

#include <cstdlib>

namespace diffbench::bench {

class PlantedLoad {
 public:
  /// So many CPUs for others, whatever really runs.
  explicit PlantedLoad(const char* cpus) { setenv(planted_load_variable, cpus, 1); }
  PlantedLoad(const PlantedLoad&) = delete;
  PlantedLoad& operator=(const PlantedLoad&) = delete;
  ~PlantedLoad() { unsetenv(planted_load_variable); }
};

} // namespace diffbench::bench
