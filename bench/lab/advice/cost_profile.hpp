// SPDX-License-Identifier: Apache-2.0
// The profile of a machine: what calibrate measured, kept as a result file, and read by advise.
#pragma once

#include "cost_model.hpp"
#include "progress.hpp"
#include "value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace diffbench::bench {

struct CostProfile {
  std::vector<WayCost> ways;
  std::string transfer; ///< how GPU copies were made
  std::string machine;  ///< for people: CPU and, where there was one, GPU
  std::string gpu = {}; ///< as the CUDA runtime calls it; empty: not recorded
  std::string date;
  bool disturbed = false;   ///< other programs had CPU time while it was measured
  bool interrupted = false; ///< it lacks some, or was measured fewer times
  std::string foreign;      ///< how it is not of this machine and build, in words; empty: it is
};

/// $XDG_CACHE_HOME/diffbench/profile.json, else ~/.cache/diffbench/profile.json. Throws Error
/// where neither variable is set.
[[nodiscard]] std::filesystem::path default_profile_path();

/// The part `diffbench.calibrate` of the file.
[[nodiscard]] Value to_json(const CostProfile& profile);
/// Its grids, an object each.
[[nodiscard]] Value grid_lines(const CostProfile& profile);

/// Throws InvalidInput for what is no profile.
[[nodiscard]] CostProfile read_profile(const std::filesystem::path& path);

/// Whether there is a file at default_profile_path().
[[nodiscard]] bool has_own_profile();

/// The profile at default_profile_path(). Throws InvalidInput where there is none, and with the
/// command that makes one where it is of another machine or build.
[[nodiscard]] CostProfile read_own_profile();

/// Does what `diffbench calibrate` without options does, and keeps this machine's profile; `err` is
/// told first what it takes. Throws Interrupted, after what there was by then is kept, and Error
/// where no profile can be made or written.
void calibrate_this_machine(std::ostream& err, Progress& progress);

} // namespace diffbench::bench
