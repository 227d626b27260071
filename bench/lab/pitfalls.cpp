// `diffbench pitfalls`: its options, and the bench on which the pitfalls are measured.
#include "pitfalls.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "lab_report.hpp"
#include "option_groups.hpp"
#include "option_values.hpp"
#include "pitfalls/report.hpp"
#include "selection.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace diffbench::bench {

namespace {

struct PitfallOptions {
  ProblemGroup problem; // of which only --grid is declared
  std::vector<std::string> only;
  std::string budget;
  bool list = false;
  LabOutput output;

  void declare(CLI::App& app) {
    begin_group(app, "Pitfalls");
    declare_value(app, "--grid", problem.grid, "N|NXxNY", "cells; NX counts columns (default 640)");
    declare_values(app, "--only", only, "NAME", "measure this one (may be repeated)");
    declare_value(app, "--budget", budget, "SECONDS", "for all of them together (default 10)");
    declare_flag(app, "--list", list, "name them and what they need, measure nothing");
    output.declare(app);
  }

  [[nodiscard]] double budget_seconds() const {
    double seconds = 10;
    assign_real("--budget", budget, seconds);
    if (!(seconds > 0)) {
      throw InvalidInput(fmt::format("--budget {}: give seconds above 0", budget));
    }
    return seconds;
  }
};

/// The pitfalls that hold most: the baseline beside the tuned code, and float64.
void check_memory_for(Options options) {
  options.problem.dtype = Dtype::float64;
  options.backends = {"xtensor_roll", "simd"};
  check_memory(options, select_backends(options), available_memory());
}

} // namespace

Action declare_pitfalls(CLI::App& app) {
  auto typed = std::make_shared<PitfallOptions>();
  typed->declare(app);
  return [typed](const Invocation& invocation) {
    const std::vector<Pitfall> chosen = choose_pitfalls(typed->only);
    if (typed->list && !(typed->output.json.empty() && typed->output.report.empty())) {
      throw InvalidInput("--list measures nothing, so there is nothing for --json or --report");
    }
    if (typed->list) {
      invocation.out << list_pitfalls();
      return exit_ok;
    }
    Options options;
    typed->problem.read(options);
    const double budget = typed->budget_seconds();
    check_memory_for(options);
    return run_experiment("pitfalls", typed->output, invocation, [&](Progress& progress) {
      Workbench bench(options.problem, [](std::string_view name) { return require_backend(name); });
      return measure_pitfalls(chosen, bench, budget, progress);
    });
  };
}

} // namespace diffbench::bench
