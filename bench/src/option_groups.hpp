// The options of the comparison, in the groups that the help shows. A group holds them as they were
// typed ("" is "not given"), declares them to CLI11, and once the command line is parsed reads them
// into Options, checked.
#pragma once

#include "options.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace diffbench::bench {

struct ProblemGroup {
  std::string grid, iters, dt, diffusivity, spacing, boundary, boundary_value, init, seed, dtype;
  bool allow_unstable = false;
  std::string default_grid = "640", default_iters = "1000"; ///< for the help

  void declare(CLI::App& app);
  void read(Options& options) const;
};

struct RunGroup {
  std::vector<std::string> backends, peers;
  std::string baseline, threads, isa, budget, precision;
  std::string default_budget = "10"; ///< for the help

  void declare(CLI::App& app);
  void read(Options& options) const;
};

struct GpuGroup {
  std::string transfer, device, roundtrip_every;
  bool pinned = false, async = false, retune = false;

  void declare(CLI::App& app);
  void read(Options& options) const;
};

struct OutputGroup {
  std::string json, csv, report, trace, save, png, range, snapshot_every, snapshot_dir,
      snapshot_format;
  bool telemetry = false, no_plot = false, no_progress = false;

  void declare(CLI::App& app);
  void read(Options& options) const;
};

} // namespace diffbench::bench
