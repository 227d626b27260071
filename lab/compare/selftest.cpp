// SPDX-License-Identifier: Apache-2.0
// `diffbench selftest`: a backend compared with itself.
#include "beside_load.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"
#include "experiment.hpp"
#include "lab_report.hpp"
#include "option_groups.hpp"
#include "outcome.hpp"
#include "planning.hpp"
#include "selection.hpp"
#include "selftest_trials.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

// Small enough for many trials, and long enough samples for the clock.
constexpr std::int64_t default_side = 256;
constexpr std::int64_t default_iterations = 100;
struct SelftestOptions {
  ComparisonPlan run;
  std::string backend = "fused";
  std::string load; ///< what runs beside it on purpose; empty: nothing
  std::int64_t trials = 20;
  double budget_seconds = std::numeric_limits<double>::infinity(); ///< of all trials
  LabOutput output;
};

ComparisonPlan trial_plan(const SelftestOptions& given) {
  ComparisonPlan plan = given.run;
  plan.backends = {given.backend};
  plan.baseline = trial_rows.front().label;
  plan.copy_roof = false;
  plan.precision = 1e-3; // what the budget affords
  plan.budget_seconds /= given.load.empty() ? sessions_of_trial : 1;
  return plan;
}

std::vector<PlannedRow> planned_trials(const ComparisonPlan& plan, std::span<const TrialRow> rows) {
  (void)require_backend(plan.backends.front()); // says why, when there is none
  PlannedRow planned = select_backends(plan).front();
  if (planned.backend.device != DeviceKind::cpu) {
    throw InvalidInput(
        fmt::format("--backend {}: choose one on the CPU; only those can be compared "
                    "with themselves",
                    planned.backend.name));
  }
  std::vector<PlannedRow> planned_rows;
  for (const TrialRow& row : rows) {
    planned.label = row.label;
    planned.slowdown = row.slowdown;
    planned_rows.push_back(planned);
  }
  return planned_rows;
}

TrialSubject backend_trials(const SelftestOptions& given) {
  const ComparisonPlan plan = trial_plan(given);
  const std::span<const TrialRow> rows =
      given.load.empty() ? std::span<const TrialRow>(trial_rows) : rows_beside_load;
  const Problem& problem = plan.problem;
  const std::string& backend = plan.backends.front();
  return {.title = fmt::format("{} with itself, {}x{} {}", backend, problem.nx, problem.ny,
                               to_string(problem.dtype)),
          .facts = {{"backend", backend},
                    {"nx", problem.nx},
                    {"ny", problem.ny},
                    {"iterations", plan.iterations}},
          .trial_seconds = given.run.budget_seconds,
          .budget_seconds = given.budget_seconds,
          .rows = rows,
          .load = given.load.empty() ? "" : load_text(given.load),
          .run = [plan = ComparisonPlan(plan),
                  planned_rows = planned_trials(plan, rows)](Progress& progress) mutable {
            const ComparisonResult result = measure(plan, planned_rows, progress);
            plan.prove_fields = false; // the same code in all trials
            return TrialSession{.rows = {result.rows.begin(), result.rows.end()},
                                .outcome = outcome_of(result),
                                .troubles = troubles(result),
                                .interrupted = result.interrupted};
          }};
}

} // namespace

Action declare_selftest(OptionList& options) {
  const auto typed = std::make_shared<SelftestOptions>();
  ComparisonPlan& run = typed->run;
  run.problem.nx = run.problem.ny = default_side;
  run.iterations = default_iterations;
  run.budget_seconds = 5;
  declare_problem(options, run);
  options.group("What runs");
  options.text("--backend NAME", typed->backend, "backend that is compared with itself");
  declare_threads(options, run.session.threads, "for threaded backends", "the usable CPUs");
  declare_heeded(options, run.session.threads, [typed] { return std::vector{typed->backend}; });
  options.group("Trials");
  options.integer("--trials N", typed->trials, {1, 100'000}, "comparisons of each kind");
  options.text("--beside KIND", typed->load,
               "start such a load: are verdicts right beside other programs?");
  options.check([&typed = *typed, &options] {
    if (!typed.load.empty()) {
      (void)load_text(typed.load);                                                   // there is one
      typed.run.budget_seconds /= options.given("--budget") ? 1 : sessions_of_trial; // a trial each
    }
  });
  declare_seconds(options, "--budget SECONDS", run.budget_seconds, "time for the whole run",
                  fmt::format("{:g} for each trial", run.budget_seconds));
  options.check([&typed = *typed, &options] {
    if (options.given("--budget")) {
      typed.budget_seconds = typed.run.budget_seconds;
      typed.run.budget_binds = true;
      typed.run.budget_seconds /= static_cast<double>(typed.trials);
    }
  });
  typed->output.declare(options);
  return [typed](const Invocation& invocation) {
    const bool binds = typed->run.budget_binds;
    const double all = typed->run.budget_seconds * static_cast<double>(typed->trials);
    typed->output.expect(
        all, fmt::format("{}, {}", counted(typed->trials, "trial"), limit_text(all, binds)), binds);
    return run_experiment("selftest", typed->output, invocation, [&](Progress& progress) {
      std::optional<BesideLoad> load;
      if (!typed->load.empty()) {
        load.emplace(typed->load);
      }
      return run_trials(backend_trials(*typed), typed->trials, progress);
    });
  };
}

} // namespace diffbench::bench
