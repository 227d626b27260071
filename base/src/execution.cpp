// SPDX-License-Identifier: Apache-2.0
#include "diffbench/execution.hpp"

#include <string>

namespace diffbench {

Provenance::Details Provenance::facts() const {
  Details all;
  if (isa) {
    all.emplace_back("isa", to_string(*isa));
  }
  if (!device.empty()) {
    all.emplace_back("device", device);
  }
  if (resident || sweep_depth) {
    all.emplace_back("depth", resident ? "resident" : std::to_string(*sweep_depth));
  }
  all.insert(all.end(), details.begin(), details.end());
  if (!in_core.empty()) {
    all.emplace_back("in_core", in_core);
  }
  if (halo_depth) {
    all.emplace_back("halo_depth", std::to_string(*halo_depth));
  }
  if (oversubscribed) {
    all.emplace_back("oversubscribed", "correctness only");
  }
  return all;
}

Probe always_available(int /*device*/) noexcept { return {}; }

} // namespace diffbench
