// SPDX-License-Identifier: Apache-2.0
// `diffbench pitfalls`: its options, and the bench on which the pitfalls are measured.
#include "assumed_report.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "pitfall.hpp"
#include "planning.hpp"
#include "selection.hpp"
#include "units.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace diffbench::bench {

namespace {

struct PitfallOptions {
  Problem problem;
  double budget_seconds = 10;
  std::vector<std::string> only;
  bool list = false;
  std::optional<AssumedCard> assumed;
  LabOutput output;
};

/// The pitfalls that hold most: the baseline beside the tuned code, and float64.
void check_memory_for(Problem problem) {
  problem.dtype = Dtype::float64;
  check_memory(problem, select_backends({.backends = {"xtensor_roll", "simd"}}), 0,
               available_memory());
}

/// Throws Unavailable with the bare reason: it is the same for all that need a GPU, and told once.
BackendInfo backend_here(std::string_view name) {
  const auto found = std::ranges::find(all_backends(), name, &BackendInfo::name);
  if (found != all_backends().end()) {
    if (const Probe probe = found->probe(0); !probe.available) {
      throw Unavailable(probe.reason);
    }
  }
  return require_backend(name);
}

} // namespace

Action declare_pitfalls(OptionList& options) {
  const auto state = std::make_shared<PitfallOptions>();
  options.group("Pitfalls");
  declare_grid(options, state->problem);
  options.texts("--only NAME", state->only, "measure this one (may be repeated)");
  options.choices(names_in(all_pitfalls()));
  declare_seconds(options, "--budget SECONDS", state->budget_seconds, "time for the whole run");
  options.flag("--list", state->list, "list the names and what each needs; measure nothing");
  for (const char* measured : {"--grid", "--budget"}) {
    options.needs(measured, "a measurement: leave --list out", [state] { return !state->list; });
  }
  declare_assume(options, state->assumed);
  options.check([&list = state->list, &options] {
    if (list && options.given("--assume")) {
      throw InvalidInput("--list and --assume: a list has no figures; give one");
    }
  });
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    const std::vector<Pitfall> chosen = choose_pitfalls(state->only);
    if (state->list &&
        !(state->output.json + state->output.csv + state->output.markdown + state->output.report)
             .empty()) {
      throw InvalidInput(
          "--list measures nothing, so there is nothing for --json, --csv or --report");
    }
    if (state->list) {
      write_text(invocation.out, list_pitfalls(chosen));
      return exit_ok;
    }
    check_memory_for(state->problem);
    state->output.expect(state->budget_seconds,
                         fmt::format("{}, {}", counted(std::ssize(chosen), "pitfall"),
                                     limit_text(state->budget_seconds, true)),
                         true);
    return run_experiment("pitfalls", state->output, invocation, [&](Progress& progress) {
      Workbench bench(state->problem, backend_here);
      return measure_pitfalls(chosen, bench, state->budget_seconds, progress, state->assumed);
    });
  };
}

} // namespace diffbench::bench
