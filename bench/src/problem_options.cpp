// Options of what is computed.
#include "option_groups.hpp"
#include "option_values.hpp"

#include <algorithm>

namespace diffbench::bench {

namespace {

/// "640" or "640x480".
void parse_grid(std::string_view text, Problem& problem) {
  const std::size_t cross = text.find('x');
  const std::string_view columns = text.substr(0, cross);
  const std::string_view rows = cross == std::string_view::npos ? columns : text.substr(cross + 1);
  const auto nx = parse_number<std::int64_t>(columns);
  const auto ny = parse_number<std::int64_t>(rows);
  if (!nx || !ny) {
    throw InvalidInput(fmt::format("--grid {}: give N or NXxNY, such as 640 or 1920x1080", text));
  }
  if (std::min(*nx, *ny) < min_extent || std::max(*nx, *ny) > max_extent) {
    throw InvalidInput(
        fmt::format("--grid {}: each side has {} to {} cells", text, min_extent, max_extent));
  }
  problem.nx = *nx;
  problem.ny = *ny;
}

} // namespace

void ProblemGroup::declare(CLI::App& app) {
  begin_group(app, "Problem");
  declare_value(app, "--grid", grid, "N|NXxNY",
                ("cells; NX counts columns (default " + default_grid + ")").c_str());
  declare_value(app, "--iters", iters, "K", ("time steps (default " + default_iters + ")").c_str());
  declare_value(app, "--dt", dt, "X", "time step (default 0.1); stable up to h^2/(4 D)");
  declare_value(app, "--diffusivity", diffusivity, "X", "D (default 1)");
  declare_value(app, "--spacing", spacing, "X", "h, the distance of two cells (default 1)");
  declare_value(app, "--boundary", boundary, "NAME", "periodic (default), dirichlet or neumann");
  declare_value(app, "--boundary-value", boundary_value, "X",
                "outside cells under dirichlet (default 0)");
  declare_value(app, "--init", init, "NAME|FILE.npy",
                "block (default), gaussian, sine, random or a .npy file");
  declare_value(app, "--seed", seed, "N", "for --init random (default 1)");
  declare_value(app, "--dtype", dtype, "NAME", "float32 (default) or float64");
  declare_flag(app, "--allow-unstable", allow_unstable, "run beyond the stability limit");
}

void ProblemGroup::read(Options& options) const {
  Problem& problem = options.problem;
  if (!grid.empty()) {
    parse_grid(grid, problem);
  }
  assign_integer("--iters", iters, 1, max_iterations, options.iterations);
  assign_real("--dt", dt, problem.dt);
  assign_real("--diffusivity", diffusivity, problem.diffusivity);
  assign_real("--spacing", spacing, problem.spacing);
  assign_real("--boundary-value", boundary_value, problem.boundary_value);
  assign("--boundary", boundary, problem.boundary, parse_boundary);
  assign("--dtype", dtype, problem.dtype, parse_dtype);
  assign("--init", init, options.initial, parse_initial);
  if (!seed.empty()) {
    const auto number = parse_number<std::uint64_t>(seed);
    if (!number) {
      throw InvalidInput(fmt::format("--seed {}: give a whole number from 0 to 2^64-1", seed));
    }
    options.initial.seed = *number;
  }
  validate(problem, allow_unstable);
}

} // namespace diffbench::bench
