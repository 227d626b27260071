// SPDX-License-Identifier: Apache-2.0
#include "scaling.hpp"

#include "assumed_report.hpp"
#include "conclusion.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "option_groups.hpp"
#include "planning.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

namespace diffbench::bench {

namespace {

/// Weak scaling goes through the thread counts so often, every other time backwards.
constexpr int passes = 2;

struct ScalingOptions {
  ScalingPlan plan;
  LabOutput output;
  std::string backend = "simd";
  std::vector<int> threads;
  bool weak = false;
  std::optional<AssumedCard> assumed;
};

BackendInfo threaded_backend(const std::string& name) {
  const BackendInfo backend = require_backend(name);
  if (!backend.threaded) {
    const auto threaded = names_in(all_backends(), std::mem_fn(&BackendInfo::threaded));
    throw InvalidInput(
        fmt::format("--backend {}: does not use threads of the CPU; choose one of "
                    "{}",
                    name, fmt::join(threaded, ", ")));
  }
  return backend;
}

/// The best GPU backend, where its times mean something.
void choose_gpu(ScalingPlan& plan) {
  plan.why_no_gpu = "this build has no CUDA backend";
  double driver_seconds = 0; // the first probe of them all started it
  for (PlannedRow& planned : select_backends(plan.run)) {
    if (planned.backend.device == DeviceKind::emulated) {
      plan.why_no_gpu = "the GPU of this build is emulated, and an emulation is never timed";
    } else if (planned.backend.device == DeviceKind::cuda) {
      plan.why_no_gpu = planned.probe.reason;
      driver_seconds += planned.probe_seconds;
      if (planned.probe.available && planned.backend.name == "cuda") {
        planned.session.transfer = Transfer::pinned; // as who cares for speed would
        plan.gpu = std::move(planned);
      }
    }
  }
  if (plan.gpu) {
    plan.gpu->probe_seconds = driver_seconds;
  }
}

ScalingPlan plan_of(const ScalingOptions& options) {
  ScalingPlan plan = options.plan;
  plan.scaling = options.weak ? Scaling::weak : Scaling::strong;
  plan.backend = threaded_backend(options.backend);
  plan.threads = thread_counts(options.threads, usable_cpus());
  if (!options.weak) {
    choose_gpu(plan);
    return plan;
  }
  if (plan.run.initial.kind == InitialField::Kind::file) {
    throw InvalidInput(fmt::format(
        "--init {}: with --weak the grid grows with the threads, and a file does not; choose "
        "block, gaussian, sine or random",
        to_string(plan.run.initial)));
  }
  if (plan.run.problem.ny > max_extent / plan.threads.back()) {
    throw InvalidInput(fmt::format("--weak with {} threads: a side has at most {} cells",
                                   plan.threads.back(), max_extent));
  }
  if (plan.run.device_chosen) {
    throw InvalidInput("--device: only strong scaling is compared with a GPU; leave --weak out");
  }
  if (options.assumed) {
    throw InvalidInput("--assume: only strong scaling is compared with a GPU; leave --weak out");
  }
  return plan;
}

/// The best way on the card, whole runs beside those of the best number of threads.
void add_assumed(LabReport& report, const AssumedCard& card, const ScalingStudy& study) {
  const ComparisonResult& measured = study.frame;
  const CardRun run{.backend = "cuda",
                    .cells = static_cast<double>(measured.problem.cells()),
                    .steps = static_cast<double>(measured.iterations)};
  AssumedRuns assumed{.card = card,
                      .runs = {assume(card, "cuda", run, stencil_work(measured.problem.dtype))},
                      .bytes = device_bytes(measured.problem),
                      .whole = true};
  const Row* cpu = fastest(measured, [](const Row& row) { return !row.on_device(); });
  if (cpu != nullptr) {
    assumed.rival = Rival{"the best of the threads",
                          cpu->warm ? cpu->warm->wall : run.steps * cpu->step_seconds()};
  }
  append_assumed(report, assumed, measured);
}

std::string row_label(const BackendInfo& backend, int threads) {
  return fmt::format("{}, {}", backend.name, counted(threads, "thread"));
}

PlannedRow planned_for(const ScalingPlan& plan, int threads) {
  PlannedRow planned{.backend = plan.backend,
                     .probe = plan.backend.probe(plan.run.session.device),
                     .session = plan.run.session,
                     .label = row_label(plan.backend, threads)};
  planned.session.threads = threads;
  return planned;
}

ComparisonPlan comparison_of(const ScalingPlan& plan) {
  ComparisonPlan run = plan.run;
  run.backends = {std::string(plan.backend.name)};
  run.baseline = row_label(plan.backend, 1);
  return run;
}

ComparisonResult measure_strong(const ScalingPlan& plan, ScalingStudy& study, Progress& progress) {
  std::vector<PlannedRow> planned_rows;
  for (const int threads : plan.threads) {
    planned_rows.push_back(planned_for(plan, threads));
  }
  if (plan.gpu) {
    planned_rows.push_back(*plan.gpu);
  }
  const ComparisonPlan run = comparison_of(plan);
  check_memory(run.problem, planned_rows, 0, available_memory());
  ComparisonResult result = measure(run, planned_rows, progress);
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    study.entries.push_back({plan.threads[i], result.problem, result.rows[i]});
  }
  if (plan.gpu) {
    study.gpu = result.rows.back();
  }
  return result;
}

/// Adds the samples of a pass to those before it; a pass that went wrong makes the row wrong.
void merge(Row& row, Row&& pass) {
  const bool first = row.name.empty();
  if (!first) {
    pass.samples.insert(pass.samples.begin(), row.samples.begin(), row.samples.end());
  }
  if (first || !pass.ranked()) {
    row = std::move(pass);
  } else {
    row.samples = std::move(pass.samples);
  }
}

/// The comparison of one entry. Empty when Ctrl-C came before it had anything to keep.
std::optional<ComparisonResult> measure_entry(const ScalingPlan& plan, ComparisonPlan run,
                                              const ScalingEntry& entry, Progress& progress) {
  run.problem = entry.problem;
  if (!entry.row.samples.empty()) {
    run.sample_steps = entry.row.samples.front().iterations; // so that passes are alike
  }
  const std::vector planned_rows{planned_for(plan, entry.threads)};
  try {
    return measure(run, planned_rows, progress);
  } catch (const Interrupted&) {
    return std::nullopt;
  }
}

ComparisonResult measure_weak(const ScalingPlan& plan, ScalingStudy& study, Progress& progress) {
  ComparisonPlan run = comparison_of(plan);
  run.budget_seconds /= static_cast<double>(passes * plan.threads.size());
  for (const int threads : plan.threads) {
    study.entries.push_back({.threads = threads, .problem = plan.run.problem, .row = {}});
    study.entries.back().problem.ny *= threads;
  }
  run.problem = study.entries.back().problem;
  const std::vector largest{planned_for(plan, plan.threads.back())};
  check_memory(run.problem, largest, 0, available_memory());

  std::optional<ComparisonResult> frame;
  std::set<std::string> notes; // of all
  bool disturbed = false;
  for (int pass = 0; pass < passes && !interrupted(); ++pass) {
    for (ScalingEntry& entry : study.entries) {
      std::optional<ComparisonResult> result = measure_entry(plan, run, entry, progress);
      if (!result || interrupted()) {
        break;
      }
      merge(entry.row, std::move(result->rows.front()));
      for (const std::string& note : result->notes) {
        notes.insert(fmt::format("{}x{}: {}", entry.problem.nx, entry.problem.ny, note));
      }
      disturbed = disturbed || result->disturbed;
      if (!frame) {
        frame = std::move(result);
      }
    }
    std::ranges::reverse(study.entries);
  }
  if (!frame) {
    throw Interrupted();
  }
  std::erase_if(study.entries, [](const ScalingEntry& entry) { return entry.row.name.empty(); });
  frame->notes.assign(notes.begin(), notes.end());
  frame->interrupted = interrupted();
  frame->disturbed = disturbed;
  return *frame;
}

} // namespace

std::vector<int> thread_counts(std::span<const int> list, int usable_cpus) {
  std::set<int> counts(list.begin(), list.end());
  counts.insert(1);
  if (list.empty()) {
    for (int count = 2; count < usable_cpus; count *= 2) {
      counts.insert(count);
    }
    counts.insert(usable_cpus);
  }
  return {counts.begin(), counts.end()};
}

ScalingStudy measure_scaling(const ScalingPlan& plan, Progress& progress) {
  ScalingStudy study{.scaling = plan.scaling,
                     .backend = std::string(plan.backend.name),
                     .why_no_gpu = plan.why_no_gpu,
                     .usable_cpus = usable_cpus(),
                     .cpu_quota = cpu_quota()};
  study.frame = plan.scaling == Scaling::strong ? measure_strong(plan, study, progress)
                                                : measure_weak(plan, study, progress);
  std::ranges::sort(study.entries, {}, &ScalingEntry::threads);
  study.frame.rows.clear();
  for (const ScalingEntry& entry : study.entries) {
    study.frame.rows.push_back(entry.row);
  }
  if (study.gpu) {
    study.frame.rows.push_back(*study.gpu);
  }
  return study;
}

Action declare_scaling(OptionList& options) {
  const auto state = std::make_shared<ScalingOptions>();
  ComparisonPlan& run = state->plan.run;
  declare_problem(options, run);
  options.group("What runs");
  options.text("--backend NAME", state->backend, "a threaded backend");
  options.choices(backend_names());
  declare_thread_list(options, state->threads, "such as 1,2,4",
                      "1, 2, 4, ... up to the usable CPUs");
  options.flag("--weak", state->weak, "n threads get n times the rows of --grid");
  declare_isa(options, run.session);
  declare_heeded(options, run.session.threads,
                 [state] { return std::vector<std::string>{state->backend}; });
  declare_budget(options, run.budget_seconds, run.budget_binds);
  declare_device(options, run.session.device, run.device_chosen, "which GPU to compare with");
  declare_assume(options, state->assumed);
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    const ScalingPlan plan = plan_of(*state);
    const ComparisonPlan& run = plan.run;
    state->output.expect(run.budget_binds ? run.budget_seconds : 1.5 * run.budget_seconds,
                         fmt::format("{}, {}", counted(std::ssize(plan.threads), "thread count"),
                                     limit_text(run.budget_seconds, run.budget_binds)),
                         run.budget_binds);
    return run_experiment("scaling", state->output, invocation, [&](Progress& progress) {
      const ScalingStudy study = measure_scaling(plan, progress);
      LabReport report = scaling_report(study);
      if (state->assumed) {
        add_assumed(report, *state->assumed, study);
      }
      return report;
    });
  };
}

} // namespace diffbench::bench
