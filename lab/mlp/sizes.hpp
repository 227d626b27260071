// SPDX-License-Identifier: Apache-2.0
// `diffbench mlp depth` and `diffbench mlp width`: the time of a training step by the size of the
// network, on every engine and peer. From how many parameters does which of them win?
#pragma once

#include "lab_report.hpp"
#include "race.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace diffbench::bench {

/// One network of the study.
struct SizePoint {
  std::int64_t size = 0; ///< width of the last hidden layer, or of both
  mlp::Network network;
  RaceResult race;
};

struct SizeStudy {
  std::string verb;   ///< "depth" or "width"
  std::string symbol; ///< of the size: "T" or "N"
  std::int64_t batch = 100;
  std::int64_t steps = 1000; ///< of 100 epochs
  bool quality = false;      ///< errors were counted after these
  std::vector<SizePoint> points;
  std::string left_out = {}; ///< a line on sizes that did not fit into the budget; empty: none
  bool interrupted = false;
};

[[nodiscard]] LabReport size_report(const SizeStudy& study);

} // namespace diffbench::bench
