// SPDX-License-Identifier: Apache-2.0
#include "scaling.hpp"

#include "assumed_report.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
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
                          cpu->warm ? cpu->warm->wall : run.steps * cpu->step_seconds(),
                          width_of(cpu->samples).value_or(Width())};
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
  for (const int threads : plan.threads) {
    study.points.push_back({plan.run.problem, planned_for(plan, threads)});
    study.points.back().problem.ny *= plan.scaling == Scaling::weak ? threads : 1;
  }
  if (plan.gpu) {
    study.points.push_back({plan.run.problem, *plan.gpu});
  }
  ComparisonPlan run = plan.run;
  run.backends = {study.backend};
  run.baseline = row_label(plan.backend, 1);
  study.frame = measure_points(std::move(run), study.points, progress);
  return study;
}

Action declare_scaling(OptionList& options) {
  const auto state = std::make_shared<ScalingOptions>();
  ComparisonPlan& run = state->plan.run;
  declare_problem(options, run);
  options.group("What runs");
  options.text("--backend NAME", state->backend, "a threaded backend");
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
