// SPDX-License-Identifier: Apache-2.0
// `diffbench mlp scaling`: a training step on 1, 2, 4, ... threads, and whether a GPU is worth it.
#pragma once

#include "lab_report.hpp"
#include "race.hpp"

#include <cstdint>

namespace diffbench::bench {

struct StepScaling {
  mlp::Network network;
  std::int64_t batch = 100;
  RaceResult race;
  int usable_cpus = 1;
  double cpu_quota = 0; ///< infinity without one
  bool interrupted = false;
};

[[nodiscard]] LabReport step_scaling_report(const StepScaling& study);

} // namespace diffbench::bench
