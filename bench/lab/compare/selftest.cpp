// SPDX-License-Identifier: Apache-2.0
// `diffbench selftest`: a backend, or an engine of the networks, compared with itself.
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
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

namespace {

// Small enough for many trials, and long enough samples for the clock.
constexpr std::int64_t default_side = 256;
constexpr std::int64_t default_iterations = 100;
/// A race has several batches in memory.
constexpr Limits trial_batch_limits{1, 10'000};

/// Of a trial of duels, which has five.
constexpr double duel_trial_seconds = 50;

constexpr const char* problem_group = "Problem";
constexpr const char* network_group = "Network, with --engine";
constexpr const char* run_group = "What runs";
constexpr const char* duel_group = "Duels in their place";
constexpr const char* trial_group = "Trials";

struct SelftestOptions {
  ComparisonPlan run;
  std::string backend = "fused";
  EngineTrials engine;            ///< instead of the backend where it has a name
  std::optional<DuelTrials> duel; ///< instead of both
  std::vector<double> slowdowns;  ///< of duels; empty: the usual ones
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
  plan.budget_seconds /= sessions_of_trial;
  return plan;
}

std::vector<PlannedRow> planned_trials(const ComparisonPlan& plan) {
  (void)require_backend(plan.backends.front()); // says why, when there is none
  PlannedRow planned = select_backends(plan).front();
  require_cpu(planned.backend.device, "--backend", planned.backend.name);
  std::vector<PlannedRow> planned_rows;
  for (const TrialRow& row : trial_rows) {
    planned.label = row.label;
    planned.slowdown = row.slowdown;
    planned_rows.push_back(planned);
  }
  return planned_rows;
}

TrialSubject backend_trials(const ComparisonPlan& plan) {
  const Problem& problem = plan.problem;
  const std::string& backend = plan.backends.front();
  return {.title = fmt::format("{} with itself, {}x{} {}", backend, problem.nx, problem.ny,
                               to_string(problem.dtype)),
          .facts = {{"backend", backend},
                    {"nx", problem.nx},
                    {"ny", problem.ny},
                    {"iterations", plan.iterations}},
          .trial_seconds = plan.budget_seconds * sessions_of_trial,
          .run = [plan = ComparisonPlan(plan),
                  planned_rows = planned_trials(plan)](Progress& progress) mutable {
            const ComparisonResult result = measure(plan, planned_rows, progress);
            plan.prove_fields = false; // the same code in all trials
            return TrialSession{.rows = {result.rows.begin(), result.rows.end()},
                                .outcome = outcome_of(result),
                                .troubles = troubles(result),
                                .interrupted = result.interrupted};
          }};
}

TrialSubject subject_of(SelftestOptions given, MakeEngineTrials engine_trials) {
  if (given.engine.engine.empty()) {
    return backend_trials(trial_plan(given));
  }
  given.engine.session = given.run.session;
  given.engine.trial_seconds = given.run.budget_seconds / sessions_of_trial;
  return engine_trials(given.engine);
}

void refuse_problem_of_engine(const OptionList& options) {
  if (!options.given("--engine")) {
    return;
  }
  if (options.given("--backend")) {
    throw InvalidInput("--backend and --engine: one of them is compared with itself; give one");
  }
  for (const std::string& unused : options.given_names(problem_group)) {
    throw InvalidInput(unused + ": is for backends; an engine has --layers and --batch");
  }
}

/// A duel has a problem of its own.
void check_duel(SelftestOptions& typed, const OptionList& options) {
  if (!typed.duel) {
    for (const std::string& unused : options.given_names(duel_group)) {
      throw InvalidInput(fmt::format("{}: is for --duel", unused));
    }
    return;
  }
  for (const char* group : {problem_group, network_group, run_group}) {
    for (const std::string& unused : options.given_names(group)) {
      throw InvalidInput(fmt::format("{}: has no effect on --duel", unused));
    }
  }
  if (!typed.slowdowns.empty()) {
    typed.duel->slowdowns = typed.slowdowns;
  }
  typed.duel->trials = typed.trials;
  typed.duel->trial_seconds =
      options.given("--budget") ? typed.run.budget_seconds : duel_trial_seconds;
}

void refuse_network_of_backend(const OptionList& options) {
  for (const std::string& unused : options.given_names(network_group)) {
    if (!options.given("--engine")) {
      throw InvalidInput(unused + ": is for engines; name one by --engine");
    }
  }
}

} // namespace

Action declare_selftest(OptionList& options, MakeEngineTrials engine_trials,
                        RunDuelTrials duel_trials) {
  const auto typed = std::make_shared<SelftestOptions>();
  ComparisonPlan& run = typed->run;
  run.problem.nx = run.problem.ny = default_side;
  run.iterations = default_iterations;
  run.budget_seconds = 5;
  // Before it is said what is wrong with the problem.
  options.check([&options] { refuse_problem_of_engine(options); });
  declare_problem(options, run);
  options.group(network_group);
  EngineTrials& engine = typed->engine;
  options.parsed("--layers N,N,...", engine.network,
                 described("widths", "", to_string(engine.network)), mlp::parse_layers);
  options.integer("--batch N", engine.batch, trial_batch_limits, "rows of a step");
  options.check([&options] { refuse_network_of_backend(options); });
  options.group(run_group);
  options.text("--backend NAME", typed->backend, "backend that is compared with itself");
  options.choices(backend_names());
  options.text("--engine NAME", engine.engine,
               "compare an engine of networks instead, in "
               "training steps");
  declare_threads(options, run.session.threads, "for threaded backends and engines",
                  "the usable CPUs; engines: as many as pay");
  declare_heeded(options, run.session.threads, [typed] {
    return typed->engine.engine.empty() && !typed->duel ? std::vector{typed->backend}
                                                        : std::vector<std::string>();
  });
  options.group(duel_group);
  options.value("--duel KIND", one_of(duel_trial_kinds.names(), "") + ", which is --until decided",
                [&duel = typed->duel](std::string_view option, const std::string& text) {
                  duel.emplace().kind = parse_as(option, text, [](const std::string& name) {
                    return duel_trial_kinds.parse(name);
                  });
                });
  options.choices(duel_trial_kinds.names());
  options.values("--slowdown X%",
                 described("planted, beside none", "above 0%, up to 1000%", "1%, 2%, 5% and 10%"),
                 [&slowdowns = typed->slowdowns](std::string_view option, const std::string& text) {
                   slowdowns.push_back(parse_percent(option, text));
                 });
  options.group(trial_group);
  options.integer("--trials N", typed->trials, {1, 100'000}, "comparisons of each kind");
  declare_seconds(options, "--budget SECONDS", run.budget_seconds, "time for the whole run",
                  fmt::format("{:g} for each trial, or {:g} with --duel", run.budget_seconds,
                              duel_trial_seconds));
  options.check([&typed = *typed, &options] {
    if (options.given("--budget")) {
      typed.budget_seconds = typed.run.budget_seconds;
      typed.run.budget_binds = true;
      typed.run.budget_seconds /= static_cast<double>(typed.trials);
    }
  });
  options.check([&typed = *typed, &options] { check_duel(typed, options); });
  typed->output.declare(options);
  return [typed, engine_trials, duel_trials](const Invocation& invocation) {
    const bool binds = typed->run.budget_binds;
    const double each = typed->duel ? typed->duel->trial_seconds : typed->run.budget_seconds;
    const double all = each * static_cast<double>(typed->trials);
    typed->output.expect(
        all, fmt::format("{}, {}", counted(typed->trials, "trial"), limit_text(all, binds)), binds);
    return run_experiment("selftest", typed->output, invocation, [&](Progress& progress) {
      if (typed->duel) {
        return duel_trials(*typed->duel, progress);
      }
      TrialSubject subject = subject_of(*typed, engine_trials);
      subject.budget_seconds = typed->budget_seconds;
      return run_trials(subject, typed->trials, progress);
    });
  };
}

} // namespace diffbench::bench
