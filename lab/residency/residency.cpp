// SPDX-License-Identifier: Apache-2.0
#include "residency.hpp"

#include "assumed_report.hpp"
#include "diffbench/machine.hpp"
#include "experiment.hpp"
#include "option_groups.hpp"
#include "planning.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// Rows on the CPU: a port by a library, by a loop, and the best.
constexpr std::string_view cpu_rows[] = {"xtensor", "fused", "simd"};
/// Its kernel takes one step a launch and is that of cuda_graph, so each rung changes one thing.
constexpr std::string_view base_kernel = "cuda_stream";
constexpr std::string_view gpu_kernels[] = {base_kernel, "cuda_graph", "cuda"};
constexpr std::string_view stand_in = "simd";

const PlannedRow* find(std::span<const PlannedRow> available, std::string_view name) {
  const auto found = std::ranges::find_if(
      available, [&](const PlannedRow& c) { return c.backend.name == name && c.probe.available; });
  return found == available.end() ? nullptr : &*found;
}

std::string why_no_device(std::span<const PlannedRow> available) {
  for (const PlannedRow& planned : available) {
    if (planned.backend.device != DeviceKind::cpu && !planned.probe.available) {
      return planned.probe.reason;
    }
  }
  return fmt::format("{} is not in this build", base_kernel);
}

Rung round_trips(Place place, PlannedRow kernel, std::int64_t every, std::string resident) {
  kernel.roundtrip_every = every;
  kernel.label = fmt::format("{}, round trip every {}{}", kernel.backend.name, every,
                             resident.empty() ? ", pageable" : "");
  return {place, std::move(kernel), std::move(resident)};
}

Rung snapshots(Place place, PlannedRow kernel, std::int64_t every, std::string resident) {
  kernel.snapshot_every = every;
  kernel.label = fmt::format("{}, {}snapshot every {}", kernel.backend.name,
                             kernel.session.async ? "overlapped " : "", every);
  return {place, std::move(kernel), std::move(resident)};
}

/// Of a GPU that has these kernels, the first of them base_kernel.
std::vector<Rung> gpu_rungs(const ResidencyPlan& plan, std::vector<PlannedRow> kernels) {
  std::vector<Rung> rungs;
  PlannedRow& base = kernels.front();
  const std::string resident = base.row_name();
  // The first port of all copies ordinary memory. All others are page-locked, so that the rungs
  // differ in nothing but the number of copies.
  if (!plan.trips_every.empty()) {
    rungs.push_back(round_trips(Place::gpu, base, plan.trips_every.front(), ""));
  }
  for (PlannedRow& kernel : kernels) {
    kernel.session.transfer = Transfer::pinned;
  }
  for (const std::int64_t every : plan.trips_every) {
    rungs.push_back(round_trips(Place::gpu, base, every, resident));
  }
  rungs.push_back({Place::gpu, base, resident});
  rungs.push_back(snapshots(Place::gpu, base, plan.snapshot_every, resident));
  base.session.async = true;
  rungs.push_back(snapshots(Place::gpu, base, plan.snapshot_every, resident));
  for (const PlannedRow& better : std::span(kernels).subspan(1)) {
    rungs.push_back({Place::gpu, better, better.row_name()});
  }
  std::erase_if(rungs, [&](const Rung& rung) {
    return rung.planned.visits_host_every() > plan.run.iterations;
  });
  return rungs;
}

/// The rungs of a GPU, on a card.
void add_assumed(LabReport& report, const AssumedCard& card, const ResidencyPlan& plan,
                 const ComparisonResult& result) {
  std::vector<PlannedRow> kernels;
  for (const std::string_view name : gpu_kernels) {
    kernels.emplace_back().backend.name = name;
  }
  const Problem& problem = plan.run.problem;
  AssumedRuns assumed{.card = card, .runs = {}, .bytes = device_bytes(problem)};
  const auto steps = static_cast<double>(plan.run.iterations);
  const auto times = [&](std::int64_t every) { return steps / static_cast<double>(every); };
  for (const auto& [place, planned, resident] : gpu_rungs(plan, std::move(kernels))) {
    CardRun run{.backend = planned.backend.name,
                .cells = static_cast<double>(problem.cells()),
                .steps = steps,
                .locked = planned.session.transfer == Transfer::pinned,
                .overlaps = planned.session.async};
    run.trips = planned.roundtrip_every > 0 ? times(planned.roundtrip_every) : 1;
    run.snapshots = planned.snapshot_every > 0 ? std::floor(times(planned.snapshot_every)) : 0;
    assumed.runs.push_back(assume(card, planned.row_name(), run, stencil_work(problem.dtype)));
  }
  const Row* cpu = fastest(result, [](const Row& row) {
    return !row.on_device() && row.roundtrip_every == 0 && row.snapshot_every == 0;
  });
  if (cpu != nullptr) {
    assumed.rival = Rival{cpu->name, cpu->step_seconds(), width_of(cpu->samples).value_or(Width())};
  }
  append_assumed(report, assumed, result);
}

} // namespace

std::string_view to_string(Place place) {
  constexpr std::string_view names[] = {"cpu", "gpu", "stand_in"};
  return names[static_cast<std::size_t>(place)];
}

Ladder residency_ladder(const ResidencyPlan& plan, std::span<const PlannedRow> available) {
  Ladder ladder;
  for (const std::string_view name : cpu_rows) {
    if (const PlannedRow* planned = find(available, name)) {
      ladder.rungs.push_back({Place::cpu, *planned, planned->row_name()});
    }
  }
  std::vector<PlannedRow> kernels;
  double driver_seconds = 0; // the probe that started it was that of any backend on the device
  for (const PlannedRow& planned : available) {
    driver_seconds += planned.backend.device != DeviceKind::cpu ? planned.probe_seconds : 0;
  }
  for (const std::string_view name : gpu_kernels) {
    if (const PlannedRow* planned = find(available, name)) {
      kernels.push_back(*planned);
      kernels.back().probe_seconds = 0;
    }
  }
  const bool has_gpu = find(available, base_kernel) != nullptr;
  const bool is_timed = has_gpu && kernels.front().backend.device == DeviceKind::cuda;
  if (has_gpu) {
    std::vector<Rung> rungs = gpu_rungs(plan, std::move(kernels));
    rungs.front().planned.probe_seconds = driver_seconds;
    std::ranges::move(rungs, std::back_inserter(ladder.rungs));
  } else {
    ladder.why_no_gpu = why_no_device(available);
  }
  if (const PlannedRow* kernel = find(available, stand_in); kernel != nullptr && !is_timed) {
    // On the CPU a copy is a memcpy, and none runs beside the computation.
    for (const std::int64_t every : plan.trips_every) {
      ladder.rungs.push_back(round_trips(Place::stand_in, *kernel, every, kernel->row_name()));
    }
    ladder.rungs.push_back(
        snapshots(Place::stand_in, *kernel, plan.snapshot_every, kernel->row_name()));
  }
  std::erase_if(ladder.rungs, [&](const Rung& rung) {
    return rung.planned.visits_host_every() > plan.run.iterations;
  });
  return ladder;
}

Action declare_residency(OptionList& options) {
  struct State {
    ResidencyPlan plan;
    std::optional<AssumedCard> assumed;
    LabOutput output;
  };
  const auto state = std::make_shared<State>();
  ResidencyPlan& plan = state->plan;
  ComparisonPlan& run = plan.run;
  run.baseline = "fused";
  declare_problem(options, run);
  options.group("What runs");
  const auto parse_every = [&run](std::string_view option, const std::string& text) {
    return parse_integer(option, text, {1, run.iterations});
  };
  options.values("--roundtrip-every LIST",
                 described("iterations between two round trips", "1 to --iters", "1,10,100"),
                 [&plan, parse_every](std::string_view option, const std::string& text) {
                   plan.trips_every.push_back(parse_every(option, text));
                 });
  options.value("--snapshot-every K",
                described("iterations between two snapshots", "1 to --iters",
                          std::to_string(plan.snapshot_every)),
                [&plan, parse_every](std::string_view option, const std::string& text) {
                  plan.snapshot_every = parse_every(option, text);
                });
  declare_threads(options, run.session.threads, "for threaded backends", "the usable CPUs");
  declare_budget(options, run.budget_seconds, run.budget_binds);
  declare_device(options, run.session.device, run.device_chosen);
  declare_assume(options, state->assumed);
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    ResidencyPlan ready = state->plan;
    const std::set<std::int64_t> every(ready.trips_every.begin(), ready.trips_every.end());
    ready.trips_every = {every.begin(), every.end()};
    if (every.empty()) {
      ready.trips_every = {1, 10, 100};
    }
    const Ladder ladder = residency_ladder(ready, select_backends(ready.run));
    std::vector<PlannedRow> planned_rows;
    for (const Rung& rung : ladder.rungs) {
      planned_rows.push_back(rung.planned);
    }
    check_memory(ready.run.problem, planned_rows, 0, available_memory());
    const ComparisonPlan& run = ready.run;
    state->output.expect(
        expected_seconds(run.budget_seconds, run.budget_binds, std::ssize(planned_rows),
                         static_cast<double>(run.problem.cells()), run.iterations),
        fmt::format("{}, {}", counted(std::ssize(planned_rows), "row"),
                    limit_text(run.budget_seconds, run.budget_binds)));
    return run_experiment("residency", state->output, invocation, [&](Progress& progress) {
      const ComparisonResult result = measure(ready.run, planned_rows, progress);
      LabReport report = residency_report(ladder, result);
      if (state->assumed) {
        add_assumed(report, *state->assumed, ready, result);
      }
      return report;
    });
  };
}

} // namespace diffbench::bench
