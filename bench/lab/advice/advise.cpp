// SPDX-License-Identifier: Apache-2.0
// The verb: the run to predict, the profile to predict it from, and the check.
#include "advice.hpp"
#include "advice_report.hpp"
#include "assumed_advice.hpp"
#include "assumed_report.hpp"
#include "cost_profile.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "machine_calibration.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "own_code.hpp"
#include "prediction_check.hpp"
#include "selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Runs that --check-grid measures: from within the caches to far beyond them, on and between the
/// grids that are calibrated.
constexpr std::array<std::int64_t, 7> checked_sides = {128, 320, 640, 1200, 2500, 5000, 8192};
constexpr std::array<std::int64_t, 4> checked_iterations = {1, 10, 100, 1000};
/// Ways predicted to take longer are left out of a check.
constexpr double longest_check_seconds = 60;
constexpr double longest_grid_check_seconds = 1.5;
constexpr double check_budget_seconds = 3;
constexpr double grid_check_budget_seconds = 1.4;

struct AdvisedRun : ComparisonPlan {
  std::int64_t snapshot_every = 0; ///< 0: none
};

struct AdviseOptions {
  AdvisedRun run;
  std::string profile;      ///< empty: this machine's
  std::string printed_card; ///< empty: none
  bool check = false, check_grid = false;
  std::optional<AssumedCard> assumed;
  OwnCode own;
  LabOutput output;
};

std::vector<WayCost> ways_in(const CostProfile& profile, Dtype dtype) {
  std::vector<WayCost> ways;
  std::ranges::copy_if(profile.ways, std::back_inserter(ways),
                       [&](const WayCost& way) { return way.dtype == to_string(dtype); });
  if (ways.empty()) {
    throw InvalidInput(fmt::format(
        "--dtype {}: the profile has nothing for it; run: diffbench calibrate", to_string(dtype)));
  }
  return ways;
}

RunShape shape_of(const AdvisedRun& run) {
  return {.cells = static_cast<double>(run.problem.cells()),
          .iterations = run.iterations,
          .snapshot_every = run.snapshot_every};
}

void refuse_contradictions(const OptionList& options) {
  if (options.given("--print-card")) {
    for (const std::string& other : options.given_names()) {
      if (other != "--print-card" && other != "--no-progress") {
        throw InvalidInput(fmt::format(
            "--print-card and {}: a card is printed, and nothing predicted; give one", other));
      }
    }
  }
  if (options.given("--check") && options.given("--check-grid")) {
    throw InvalidInput(
        "--check and --check-grid: the one measures the run, the other those of its "
        "own; give one");
  }
}

/// Fills in what each way needs, and whether that is there.
void look_at_memory(Advice& advice, const AdvisedRun& run) {
  const std::int64_t available = available_memory();
  // Beyond one field the sums below could overflow.
  const bool hopeless = run.problem.field_bytes() > available;
  for (AdvisedWay& way : advice.ways) {
    way.fits = !hopeless;
    for (const BackendInfo& backend : all_backends()) {
      if (!hopeless && backend.name == way.backend && backend.memory_need != nullptr) {
        SessionOptions session = run.session;
        session.threads = way.threads;
        MemoryNeed need = backend.memory_need(run.problem, session);
        need.host += run.problem.field_bytes(); // the caller's
        way.fits = need.host <= available;
        way.need = need;
      }
    }
  }
}

/// The backends of `ways` that can run here, fit, and are predicted to end soon enough.
std::vector<PlannedRow> affordable(const std::vector<WayCost>& ways, const AdvisedRun& run,
                                   double longest_seconds, int& left_out) {
  Advice advice = advise(ways, shape_of(run));
  look_at_memory(advice, run);
  std::vector<PlannedRow> planned_rows;
  for (PlannedRow& planned : select_backends(run)) {
    const auto way = std::ranges::find_if(
        advice.ways, [&](const AdvisedWay& w) { return w.backend == planned.backend.name; });
    if (way == advice.ways.end() || !planned.probe.available) {
      continue;
    }
    if (!way->fits || way->prediction.cold_seconds > longest_seconds) {
      ++left_out;
      continue;
    }
    planned.session.threads = way->threads;
    planned.snapshot_every = run.snapshot_every;
    planned.label = planned.backend.name;
    planned_rows.push_back(std::move(planned));
  }
  return planned_rows;
}

void note_left_out(LabReport& report, int left_out, double longest_seconds) {
  if (left_out > 0) {
    report.notes.push_back(
        fmt::format("{} runs were not checked: they do not fit in memory, or "
                    "would take longer than {} s",
                    left_out, longest_seconds));
  }
}

/// Adds what went wrong in one comparison of the check.
void add_troubles(LabReport& report, const Problem& problem, const CheckedRun& run) {
  for (const std::string& trouble : run.troubles) {
    std::string note = fmt::format("{}x{}: {}", problem.nx, problem.ny, trouble);
    if (std::ranges::find(report.notes, note) == report.notes.end()) {
      report.notes.push_back(std::move(note));
    }
  }
  if (report.outcome.exit_code != exit_not_verified && run.outcome.exit_code != exit_ok) {
    report.outcome = run.outcome;
  }
}

/// All runs, several times: not each again at once. Ctrl-C ends it with what was checked so far,
/// and a run that cannot be made loses itself only.
void check(const std::vector<WayCost>& ways, const std::vector<AdvisedRun>& runs,
           double longest_seconds, LabReport& report, Progress& progress) {
  std::vector<CheckedPrediction> checked;
  int left_out = 0;
  const std::size_t all = calibration_passes * runs.size();
  for (std::size_t done = 0; done < all && !report.interrupted; ++done) {
    const AdvisedRun& run = runs[done % runs.size()];
    progress.within(fmt::format("{} of {}: ", done + 1, all));
    int unaffordable = 0;
    const std::vector<PlannedRow> planned_rows =
        affordable(ways, run, longest_seconds, unaffordable);
    left_out += done < runs.size() ? unaffordable : 0;
    if (planned_rows.empty()) {
      continue;
    }
    try {
      const CheckedRun one = check_predictions(ways, run, planned_rows, progress);
      keep_less_disturbed(checked, one.predictions);
      add_troubles(report, run.problem, one);
    } catch (const Interrupted&) {
      report.interrupted = true;
    } catch (const Error& error) {
      add_troubles(report, run.problem,
                   {.predictions = {},
                    .troubles = {error.what()},
                    .outcome = {exit_error, "not all could be checked, see the notes above"}});
    }
  }
  append_check(report, checked);
  note_left_out(report, left_out, longest_seconds);
  if (checked.empty() && !report.interrupted && report.outcome.exit_code == exit_ok) {
    report.outcome = {exit_error, "nothing could be checked, see the notes above"};
  }
}

std::vector<AdvisedRun> grid_of_runs(const AdvisedRun& asked) {
  std::vector<AdvisedRun> runs;
  for (const std::int64_t side : checked_sides) {
    for (const std::int64_t iterations : checked_iterations) {
      AdvisedRun run = asked;
      run.problem.nx = run.problem.ny = side;
      run.iterations = iterations;
      run.budget_seconds = grid_check_budget_seconds;
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

LabReport run_advise(const AdviseOptions& typed, const CostProfile& profile, Progress& progress) {
  const AdvisedRun& asked = typed.run;
  const std::vector<WayCost> ways = ways_in(profile, asked.problem.dtype);
  Advice advice = advise(ways, shape_of(asked));
  look_at_memory(advice, asked);
  LabReport report = advice_report(advice, profile, asked.problem);
  if (typed.assumed) {
    const CellWork work = stencil_work(asked.problem.dtype);
    append_assumed(report, assume_advice(*typed.assumed, ways, work, shape_of(asked)), advice,
                   profile);
  }
  if (!profile.foreign.empty()) {
    const std::string title =
        fmt::format("RECORDED PROFILE {} ({}; {}): not of this machine and build\n\n",
                    typed.profile, profile.machine, profile.date);
    report.text = title + report.text;
    report.figures = title + *report.figures;
  }
  const LoadWatch load;
  if (typed.check_grid) {
    check(ways, grid_of_runs(asked), longest_grid_check_seconds, report, progress);
  } else if (typed.check) {
    AdvisedRun run = asked;
    run.budget_seconds = check_budget_seconds;
    check(ways, {run}, longest_check_seconds, report, progress);
  }
  if (typed.check || typed.check_grid) {
    mark_disturbed(report, load);
  }
  return report;
}

} // namespace

Action declare_advise(OptionList& options) {
  const auto typed = std::make_shared<AdviseOptions>();
  AdvisedRun& run = typed->run;
  run.copy_roof = false;
  options.group("The run");
  declare_grid(options, run.problem);
  declare_iterations(options, run.iterations);
  declare_dtype(options, run.problem.dtype);
  options.integer("--snapshot-every K", run.snapshot_every, iteration_limits,
                  "copy the field to the host every K iterations");
  declare_own_code(options, typed->own);
  options.group("Prediction");
  options.text("--profile FILE", typed->profile,
               "a recorded profile (default: this machine's, which is made when there is none)");
  declare_assume(options, typed->assumed);
  options.text("--print-card CARD", typed->printed_card,
               "print that assumed card as a file to change into one of your own, and predict "
               "nothing");
  options.flag("--check", typed->check,
               "also measure the run, and print the errors of the "
               "predictions");
  options.flag("--check-grid", typed->check_grid,
               "the same for grids from 128 to 8192 and 1 to 1000 iterations (6 minutes)");
  typed->output.declare(options);
  options.check([&options] { refuse_contradictions(options); });
  return [typed](const Invocation& invocation) {
    if (!typed->printed_card.empty()) {
      write_text(invocation.out, built_in_card_text(typed->printed_card));
      return exit_ok;
    }
    if (typed->own.given) {
      return run_experiment("advise", typed->output, invocation, [&](Progress&) {
        return own_code_report(typed->own, typed->run.problem.dtype, typed->run.iterations,
                               typed->assumed.value_or(find_assumed_card(usual_card)));
      });
    }
    if (typed->profile.empty() && !has_own_profile()) {
      const InterruptGuard guard;
      tell(invocation.err,
           "this machine is not calibrated yet; calibrating it first, for a minute at most; "
           "diffbench calibrate takes longer, and is exacter");
      Progress progress(invocation.err, typed->output.progress && progress_possible());
      calibrate_this_machine(invocation.err, progress);
    }
    const std::array own{default_profile_path().string()};
    refuse_to_overwrite("--json", typed->output.json, own);
    const CostProfile profile =
        typed->profile.empty() ? read_own_profile() : read_profile(typed->profile);
    typed->run.session.transfer = transfer_names.parse(profile.transfer);
    if ((typed->check || typed->check_grid) && !profile.foreign.empty()) {
      throw InvalidInput(
          fmt::format("--check measures on this machine, and the profile is of "
                      "another machine or build ({}); run: diffbench calibrate",
                      profile.foreign));
    }
    return run_experiment("advise", typed->output, invocation, [&](Progress& progress) {
      return run_advise(*typed, profile, progress);
    });
  };
}

} // namespace diffbench::bench
