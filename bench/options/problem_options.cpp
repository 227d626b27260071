// SPDX-License-Identifier: Apache-2.0
// Options of what is computed.
#include "option_groups.hpp"

#include <algorithm>

namespace diffbench::bench {

namespace {

/// "640" or "640x480".
void parse_grid(std::string_view option, std::string_view text, Problem& problem) {
  const std::size_t cross = text.find('x');
  const std::string_view columns = text.substr(0, cross);
  const std::string_view rows = cross == std::string_view::npos ? columns : text.substr(cross + 1);
  const auto nx = parse_number<std::int64_t>(columns);
  const auto ny = parse_number<std::int64_t>(rows);
  if (!nx || !ny) {
    throw InvalidInput(
        fmt::format("{} {}: give N or NXxNY, such as 640 or 1920x1080", option, text));
  }
  if (std::min(*nx, *ny) < min_extent || std::max(*nx, *ny) > max_extent) {
    throw InvalidInput(
        fmt::format("{} {}: each side has {} to {} cells", option, text, min_extent, max_extent));
  }
  problem.nx = *nx;
  problem.ny = *ny;
}

} // namespace

void declare_grid(OptionList& options, Problem& problem) {
  options.value("--grid N|NXxNY",
                described("cells; NX counts columns", to_string(Limits{min_extent, max_extent}),
                          fmt::to_string(problem.nx)),
                [&problem](std::string_view option, const std::string& text) {
                  parse_grid(option, text, problem);
                });
}

void declare_iterations(OptionList& options, std::int64_t& iterations) {
  options.integer("--iters K", iterations, iteration_limits, "iterations: time steps");
}

void declare_dtype(OptionList& options, Dtype& dtype) {
  options.named("--dtype NAME", dtype, dtype_names);
}

void declare_seed(OptionList& options, std::uint64_t& seed, std::string_view help) {
  options.value("--seed N", described(help, "0 to 2^64-1", fmt::to_string(seed)),
                [&seed](std::string_view option, const std::string& text) {
                  const auto number = parse_number<std::uint64_t>(text);
                  if (!number) {
                    throw InvalidInput(
                        fmt::format("{} {}: give a whole number from 0 to 2^64-1", option, text));
                  }
                  seed = *number;
                });
}

void declare_problem(OptionList& options, RunPlan& run) {
  Problem& problem = run.problem;
  options.group("Problem");
  declare_grid(options, problem);
  declare_iterations(options, run.iterations);
  options.real("--dt X", problem.dt, "time step; stable up to h^2/(4 D)");
  options.real("--diffusivity X", problem.diffusivity, "D");
  options.real("--spacing X", problem.spacing, "h, the distance between cells");
  options.named("--boundary NAME", problem.boundary, boundary_names);
  options.real("--boundary-value X", problem.boundary_value,
               "value of the cells outside, for "
               "dirichlet");
  options.parsed(
      "--init NAME|FILE.npy", run.initial,
      described("block, gaussian, sine, random or a .npy file", "", to_string(run.initial)),
      parse_initial);
  declare_seed(options, run.initial.seed, "for --init random");
  // A restart is told of its checkpoint's problem, with which both are compared.
  options.needs("--boundary-value", "--boundary dirichlet", [&] {
    return problem.boundary == Boundary::dirichlet || options.given("--restart");
  });
  options.needs("--seed", "--init random", [&] {
    return run.initial.kind == InitialField::Kind::random || options.given("--restart");
  });
  declare_dtype(options, problem.dtype);
  options.flag("--allow-unstable", "run beyond the stability limit");
  options.check([&] {
    validate(problem, options.given("--allow-unstable") ? Stability::waived : Stability::required);
  });
}

} // namespace diffbench::bench
