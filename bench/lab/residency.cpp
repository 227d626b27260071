#include "residency.hpp"

#include "diffbench/machine.hpp"
#include "experiment.hpp"
#include "option_groups.hpp"
#include "option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
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

struct ResidencyOptions {
  ProblemGroup problem;
  RunGroup run;
  GpuGroup gpu;
  LabOutput output;
  std::vector<std::string> trips_every;
  std::string snapshot_every;

  void declare(CLI::App& app) {
    problem.declare(app);
    begin_group(app, "What runs");
    declare_values(app, "--roundtrip-every", trips_every, "LIST",
                   "steps between two round trips (default 1,10,100)");
    declare_value(app, "--snapshot-every", snapshot_every, "K",
                  "steps between two snapshots (default 100)");
    declare_value(app, "--threads", run.threads, "N",
                  "for threaded backends (default: the usable CPUs)");
    declare_value(app, "--budget", run.budget, "SECONDS",
                  "time for the timing rounds (default 10)");
    declare_value(app, "--device", gpu.device, "N", "which GPU (default 0)");
    output.declare(app);
  }

  [[nodiscard]] ResidencyPlan read() const {
    ResidencyPlan plan;
    problem.read(plan.run);
    run.read(plan.run);
    gpu.read(plan.run);
    plan.run.baseline = "fused";
    std::set<std::int64_t> every;
    for (const std::string& text : trips_every) {
      every.insert(parse_integer("--roundtrip-every", text, 1, plan.run.iterations));
    }
    plan.trips_every = {every.begin(), every.end()};
    if (every.empty()) {
      plan.trips_every = {1, 10, 100};
    }
    assign_integer("--snapshot-every", snapshot_every, 1, plan.run.iterations, plan.snapshot_every);
    return plan;
  }
};

const Candidate* find(std::span<const Candidate> available, std::string_view name) {
  const auto found = std::find_if(available.begin(), available.end(), [&](const Candidate& c) {
    return c.backend.name == name && c.probe.available;
  });
  return found == available.end() ? nullptr : &*found;
}

std::string why_no_device(std::span<const Candidate> available) {
  for (const Candidate& candidate : available) {
    if (candidate.backend.device != DeviceKind::cpu && !candidate.probe.available) {
      return candidate.probe.reason;
    }
  }
  return fmt::format("{} is not in this build", base_kernel);
}

/// Adds rungs with one kernel to a ladder.
class Builder {
 public:
  Builder(const ResidencyPlan& plan, Place place, std::vector<Rung>& rungs)
      : plan_(plan), place_(place), rungs_(rungs) {}

  void resident(const Candidate& candidate) { add(candidate, candidate.row_name()); }

  /// `how` says what is peculiar about the copies.
  void round_trips(const Candidate& candidate, std::int64_t every, const std::string& resident,
                   const std::string& how = "") {
    if (every <= plan_.run.iterations) {
      Candidate visiting = candidate;
      visiting.roundtrip_every = every;
      visiting.label = fmt::format("{}, round trip every {}{}", candidate.backend.name, every, how);
      add(std::move(visiting), resident);
    }
  }

  void snapshots(const Candidate& candidate, const std::string& resident) {
    if (plan_.snapshot_every <= plan_.run.iterations) {
      Candidate visiting = candidate;
      visiting.snapshot_every = plan_.snapshot_every;
      visiting.label =
          fmt::format("{}, {}snapshot every {}", candidate.backend.name,
                      candidate.session.async ? "overlapped " : "", plan_.snapshot_every);
      add(std::move(visiting), resident);
    }
  }

 private:
  void add(Candidate candidate, std::string resident) {
    rungs_.push_back(
        {.place = place_, .candidate = std::move(candidate), .resident = std::move(resident)});
  }

  const ResidencyPlan& plan_;
  Place place_;
  std::vector<Rung>& rungs_;
};

void add_gpu(const ResidencyPlan& plan, std::span<const Candidate> available,
             const Candidate& kernel, std::vector<Rung>& rungs) {
  Builder ladder(plan, Place::gpu, rungs);
  Candidate base = kernel;
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
  Candidate overlapped = base;
  overlapped.session.async = true;
  ladder.snapshots(overlapped, resident);
  for (const std::string_view name : better_kernels) {
    if (const Candidate* better = find(available, name)) {
      Candidate candidate = *better;
      candidate.probe_seconds = 0;
      candidate.session.transfer = Transfer::pinned;
      ladder.resident(candidate);
    }
  }
}

/// On the CPU a copy is a memcpy, and none runs beside the computation.
void add_stand_in(const ResidencyPlan& plan, const Candidate& kernel, std::vector<Rung>& rungs) {
  Builder ladder(plan, Place::stand_in, rungs);
  for (const std::int64_t every : plan.trips_every) {
    ladder.round_trips(kernel, every, kernel.row_name());
  }
  ladder.snapshots(kernel, kernel.row_name());
}

} // namespace

Ladder residency_ladder(const ResidencyPlan& plan, std::span<const Candidate> available) {
  Ladder ladder;
  Builder cpu(plan, Place::cpu, ladder.rungs);
  for (const std::string_view name : cpu_rows) {
    if (const Candidate* candidate = find(available, name)) {
      cpu.resident(*candidate);
    }
  }
  const Candidate* gpu = find(available, base_kernel);
  if (gpu == nullptr) {
    ladder.why_no_gpu = why_no_device(available);
  } else {
    const std::size_t first = ladder.rungs.size();
    add_gpu(plan, available, *gpu, ladder.rungs);
    // The probe that started the driver was that of any backend on the device.
    for (const Candidate& candidate : available) {
      if (candidate.backend.device != DeviceKind::cpu) {
        ladder.rungs[first].candidate.probe_seconds += candidate.probe_seconds;
      }
    }
  }
  const Candidate* kernel = find(available, stand_in);
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

Action declare_residency(CLI::App& app) {
  const auto options = std::make_shared<ResidencyOptions>();
  options->declare(app);
  return [options](const Invocation& invocation) {
    ResidencyPlan plan = options->read();
    plan.run.command = invocation.command;
    const Ladder ladder = residency_ladder(plan, select_backends(plan.run));
    std::vector<Candidate> candidates;
    for (const Rung& rung : ladder.rungs) {
      candidates.push_back(rung.candidate);
    }
    check_memory(plan.run, candidates, available_memory());
    return run_experiment("residency", options->output, invocation, [&](Progress& progress) {
      return residency_report(ladder, measure(plan.run, candidates, progress));
    });
  };
}

} // namespace diffbench::bench
