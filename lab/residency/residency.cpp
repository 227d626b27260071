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
#include <limits>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// Rows on the CPU: a port by a library, by a loop, and the best.
constexpr std::string_view cpu_rows[] = {"xtensor", "fused", "simd"};
/// Its kernel takes one step a launch and is that of cuda_graph, so each rung changes one thing.
constexpr std::string_view base_kernel = "cuda_stream";
constexpr std::string_view better_kernels[] = {"cuda_graph", "cuda_blocked"};
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

/// Adds rungs with one kernel to a ladder.
class Builder {
 public:
  Builder(const ResidencyPlan& plan, Place place, std::vector<Rung>& rungs)
      : plan_(plan), place_(place), rungs_(rungs) {}

  void resident(const PlannedRow& planned) { add(planned, planned.row_name()); }

  /// `how` says what is peculiar about the copies.
  void round_trips(const PlannedRow& planned, std::int64_t every, const std::string& resident,
                   const std::string& how = "") {
    if (every <= plan_.run.iterations) {
      PlannedRow visiting = planned;
      visiting.roundtrip_every = every;
      visiting.label = fmt::format("{}, round trip every {}{}", planned.backend.name, every, how);
      add(std::move(visiting), resident);
    }
  }

  void snapshots(const PlannedRow& planned, const std::string& resident) {
    if (plan_.snapshot_every <= plan_.run.iterations) {
      PlannedRow visiting = planned;
      visiting.snapshot_every = plan_.snapshot_every;
      visiting.label =
          fmt::format("{}, {}snapshot every {}", planned.backend.name,
                      planned.session.async ? "overlapped " : "", plan_.snapshot_every);
      add(std::move(visiting), resident);
    }
  }

 private:
  void add(PlannedRow planned, std::string resident) {
    rungs_.push_back(
        {.place = place_, .planned = std::move(planned), .resident = std::move(resident)});
  }

  const ResidencyPlan& plan_;
  Place place_;
  std::vector<Rung>& rungs_;
};

void add_gpu(const ResidencyPlan& plan, std::span<const PlannedRow> available,
             const PlannedRow& kernel, std::vector<Rung>& rungs) {
  Builder ladder(plan, Place::gpu, rungs);
  PlannedRow base = kernel;
  base.probe_seconds = 0;
  // The first port of all copies ordinary memory. All others are page-locked, so that the rungs
  // differ in nothing but the number of copies.
  if (!plan.trips_every.empty()) {
    ladder.round_trips(base, plan.trips_every.front(), "", ", pageable");
  }
  base.session.transfer = Transfer::pinned;
  const std::string resident = base.row_name();
  for (const std::int64_t every : plan.trips_every) {
    ladder.round_trips(base, every, resident);
  }
  ladder.resident(base);
  ladder.snapshots(base, resident);
  PlannedRow overlapped = base;
  overlapped.session.async = true;
  ladder.snapshots(overlapped, resident);
  for (const std::string_view name : better_kernels) {
    if (const PlannedRow* better = find(available, name)) {
      PlannedRow planned = *better;
      planned.probe_seconds = 0;
      planned.session.transfer = Transfer::pinned;
      ladder.resident(planned);
    }
  }
}

/// On the CPU a copy is a memcpy, and none runs beside the computation.
void add_stand_in(const ResidencyPlan& plan, const PlannedRow& kernel, std::vector<Rung>& rungs) {
  Builder ladder(plan, Place::stand_in, rungs);
  for (const std::int64_t every : plan.trips_every) {
    ladder.round_trips(kernel, every, kernel.row_name());
  }
  ladder.snapshots(kernel, kernel.row_name());
}

} // namespace

Ladder residency_ladder(const ResidencyPlan& plan, std::span<const PlannedRow> available) {
  Ladder ladder;
  Builder cpu(plan, Place::cpu, ladder.rungs);
  for (const std::string_view name : cpu_rows) {
    if (const PlannedRow* planned = find(available, name)) {
      cpu.resident(*planned);
    }
  }
  const PlannedRow* gpu = find(available, base_kernel);
  if (gpu == nullptr) {
    ladder.why_no_gpu = why_no_device(available);
  } else {
    const std::size_t first = ladder.rungs.size();
    add_gpu(plan, available, *gpu, ladder.rungs);
    // The probe that started the driver was that of any backend on the device.
    for (const PlannedRow& planned : available) {
      if (planned.backend.device != DeviceKind::cpu) {
        ladder.rungs[first].planned.probe_seconds += planned.probe_seconds;
      }
    }
  }
  const PlannedRow* kernel = find(available, stand_in);
  if (kernel != nullptr && (gpu == nullptr || gpu->backend.device != DeviceKind::cuda)) {
    add_stand_in(plan, *kernel, ladder.rungs);
  }
  return ladder;
}

std::optional<double> affordable_visits(std::span<const VisitCost> costs, double seconds) {
  if (costs.empty() || !(costs.front().seconds <= seconds)) {
    return std::nullopt;
  }
  for (std::size_t i = 1; i < costs.size(); ++i) {
    const VisitCost& low = costs[i - 1];
    const VisitCost& high = costs[i];
    if (high.seconds > seconds) {
      return low.visits +
             (high.visits - low.visits) * (seconds - low.seconds) / (high.seconds - low.seconds);
    }
  }
  return std::numeric_limits<double>::infinity();
}

namespace {

/// The rungs as residency_ladder() has them, on a card.
void add_assumed(LabReport& report, const AssumedCard& card, const ResidencyPlan& plan,
                 const ComparisonResult& result) {
  const Problem& problem = plan.run.problem;
  const CardRun resident{.cells = static_cast<double>(problem.cells()),
                         .steps = static_cast<double>(plan.run.iterations)};
  AssumedRuns assumed{.card = card, .runs = {}, .bytes = device_bytes(problem)};
  const auto add = [&](std::string name, const CardRun& run) {
    assumed.runs.push_back(assume(card, std::move(name), run, stencil_work(problem.dtype)));
  };
  const auto round_trips = [&](std::int64_t every, bool locked) {
    if (every <= plan.run.iterations) {
      CardRun run = resident;
      run.trips = run.steps / static_cast<double>(every);
      run.locked = locked;
      add(fmt::format("{}, round trip every {}{}", base_kernel, every, locked ? "" : ", pageable"),
          run);
    }
  };
  if (!plan.trips_every.empty()) {
    round_trips(plan.trips_every.front(), false);
  }
  for (const std::int64_t every : plan.trips_every) {
    round_trips(every, true);
  }
  add(std::string(base_kernel), resident);
  for (const bool overlaps : {false, true}) {
    CardRun run = resident;
    run.snapshots = std::floor(run.steps / static_cast<double>(plan.snapshot_every));
    run.overlaps = overlaps;
    if (run.snapshots > 0) {
      add(fmt::format("{}, {}snapshot every {}", base_kernel, overlaps ? "overlapped " : "",
                      plan.snapshot_every),
          run);
    }
  }
  for (const char* better : {"cuda_graph", "cuda"}) {
    CardRun run = resident;
    run.backend = better;
    add(better, run);
  }
  const Row* cpu = fastest(result, [](const Row& row) {
    return !row.on_device() && row.roundtrip_every == 0 && row.snapshot_every == 0;
  });
  if (cpu != nullptr) {
    assumed.rival = Rival{cpu->name, cpu->step_seconds()};
  }
  append_assumed(report, assumed, result);
}

} // namespace

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
