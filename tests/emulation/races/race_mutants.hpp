// SPDX-License-Identifier: Apache-2.0
// Programs with one race each, and without it.
#pragma once

#include <span>

namespace diffbench::emulation {

struct RaceMutant {
  const char* name;
  const char* kernel; ///< in which the race is
  void (*clean)();
  void (*racing)();
  const char* other = ""; ///< what the race is with, unless it is with a line
};

[[nodiscard]] std::span<const RaceMutant> race_mutants();

} // namespace diffbench::emulation
