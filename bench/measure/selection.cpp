// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include "context.hpp"
#include "diffbench/cluster/exchange_model.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace diffbench::bench {

namespace {

/// A device that was chosen and cannot be used ends the run before any work.
void check_device(const RowPlan& plan, std::span<const PlannedRow> planned_rows) {
  std::string reason = "this build has no CUDA backend";
  for (const PlannedRow& planned : planned_rows) {
    if (planned.backend.device != DeviceKind::cpu) {
      if (planned.probe.available) {
        return;
      }
      reason = planned.probe.reason;
    }
  }
  throw Unavailable(fmt::format("--device {}: {}", plan.session.device, reason));
}

/// Named as a row, or with all others.
bool asked_for(const BackendInfo& backend, const RowPlan& plan) {
  const std::vector<std::string>& names = plan.backends;
  if (!names.empty()) {
    return std::ranges::find(names, backend.name) != names.end();
  }
  return !backend.teaching || plan.all_backends || plan.baseline == backend.name;
}

/// What the first probe of this backend on this device took: later ones find the driver started.
double seconds_of_first_probe(const BackendInfo& backend, int device, double seconds) {
  static std::map<std::pair<std::string, int>, double> first;
  return first.try_emplace({std::string(backend.name), device}, seconds).first->second;
}

/// Each behind what it is on this process alone.
std::vector<PlannedRow> beside_ranks(std::span<const PlannedRow> planned_rows,
                                     const RankPlan& many) {
  std::vector<PlannedRow> all;
  for (const PlannedRow& planned : planned_rows) {
    all.push_back(planned);
    if (planned.probe.available && planned.roundtrip_every == 0) {
      all.push_back(on_ranks(planned, *many.ranks, many.halo_depth, many.gpu_aware));
    }
  }
  return all;
}

/// Messages that were asked for and cannot be had end the run, too.
void check_messages(std::span<const PlannedRow> planned_rows, const RankPlan& many) {
  const bool on_device = std::ranges::any_of(planned_rows, [](const PlannedRow& planned) {
    return planned.backend.device != DeviceKind::cpu && planned.probe.available;
  });
  if (many.gpu_aware && on_device) {
    cluster::require_device_messages(many.ranks->transport());
  }
}

} // namespace

std::optional<std::string> note_on_left_out(const RowPlan& plan) {
  const auto names = names_in(all_backends(), [&](const BackendInfo& backend) {
    return plan.backends.empty() && !asked_for(backend, plan);
  });
  if (names.empty()) {
    return std::nullopt;
  }
  return fmt::format("left out, because it is slow and for teaching: {} (--all)",
                     fmt::join(names, ", "));
}

std::vector<PlannedRow> select_backends(const RowPlan& plan, const RankPlan& many) {
  const std::vector<std::string>& names = plan.backends;
  const int device = plan.session.device;
  std::vector<PlannedRow> planned_rows;
  for (const BackendInfo& backend : all_backends()) {
    if (asked_for(backend, plan)) {
      const Stopwatch watch;
      Probe probe = backend.probe(device);
      const double seconds = watch.seconds();
      planned_rows.push_back({.backend = backend,
                              .probe = std::move(probe),
                              .probe_seconds = seconds_of_first_probe(backend, device, seconds),
                              .session = plan.session});
    }
  }
  for (const std::string& name : names) {
    (void)require_backend(name, device);
  }
  // With backends named, those decide whether a device is needed.
  if (plan.device_chosen && names.empty()) {
    check_device(plan, planned_rows);
  }
  if (plan.roundtrip_every > 0) {
    planned_rows = with_round_trips(planned_rows, plan.roundtrip_every);
  }
  if (many.ranks == nullptr || many.ranks->size() == 1) {
    return planned_rows;
  }
  check_messages(planned_rows, many);
  return beside_ranks(planned_rows, many);
}

PlannedRow on_ranks(const PlannedRow& planned, cluster::Ranks& ranks, std::int64_t halo_depth,
                    bool gpu_aware) {
  PlannedRow all = planned;
  all.ranks = &ranks;
  all.halo_depth = halo_depth;
  all.gpu_aware = gpu_aware;
  all.probe_seconds = 0;
  all.label = fmt::format("{}, {} ranks", planned.backend.name, ranks.size());
  return all;
}

std::vector<PlannedRow> with_round_trips(std::span<const PlannedRow> planned_rows,
                                         std::int64_t every) {
  std::vector<PlannedRow> all;
  for (const PlannedRow& planned : planned_rows) {
    all.push_back(planned);
    if (planned.backend.device != DeviceKind::cpu && planned.probe.available) {
      PlannedRow naive = planned;
      naive.probe_seconds = 0;
      naive.roundtrip_every = every;
      naive.label = fmt::format("{}, round trip every {}", planned.backend.name, every);
      all.push_back(std::move(naive));
    }
  }
  return all;
}

MemoryNeed memory_of(const PlannedRow& planned, const Problem& problem) {
  if (planned.backend.memory_need == nullptr) {
    return {};
  }
  if (planned.ranks == nullptr) {
    return planned.backend.memory_need(problem, planned.session);
  }
  // That of one rank, times those of this machine.
  const int ranks = planned.ranks->size();
  const std::int64_t deepest = cluster::deepest_halo(problem, ranks);
  const std::int64_t depth =
      planned.halo_depth > 0 ? planned.halo_depth : cluster::depth_notches.back();
  Problem local = problem; // of the largest rank, with both halos
  local.ny = (problem.ny + ranks - 1) / ranks + (ranks > 1 ? 2 * std::min(deepest, depth) : 0);
  MemoryNeed need = planned.backend.memory_need(local, planned.session);
  if (planned.backend.device != DeviceKind::cpu) {
    const std::int64_t messages =
        4 * std::min(deepest, depth) * problem.nx * problem.element_bytes();
    (planned.gpu_aware ? need.device : need.host) += messages;
  }
  need.host *= planned.ranks->ranks_on_machine();
  return need;
}

void check_memory(const Problem& problem, std::span<const PlannedRow> planned_rows,
                  std::size_t peers, std::int64_t available_bytes) {
  auto refuse = [&](std::int64_t needed, const std::string& there) {
    throw InvalidInput(fmt::format(
        "a grid of {}x{} in {} needs {} of memory for these backends and {}: choose a smaller "
        "--grid or fewer backends (such as --backend simd)",
        problem.nx, problem.ny, to_string(problem.dtype), format_bytes(needed), there));
  };
  const std::string free_on_host = format_bytes(available_bytes) + " are free";
  // First of all the one field: beyond it the sums below could overflow.
  std::int64_t needed = problem.field_bytes();
  if (needed > available_bytes) {
    refuse(needed, free_on_host);
  }
  std::int64_t needed_on_device = 0;
  std::optional<DeviceFacts> device; // the same for all
  for (const PlannedRow& planned : planned_rows) {
    if (planned.probe.available) {
      const MemoryNeed need = memory_of(planned, problem);
      needed += need.host;
      needed_on_device += need.device;
      device = planned.probe.device ? planned.probe.device : device;
      if (planned.visits_host_every() > 0) { // a host field of its own
        needed += problem.field_bytes();
      }
    }
  }
  // A peer's expression holds the field, the result and at least one temporary.
  needed += 3 * problem.field_bytes() * static_cast<std::int64_t>(peers);
  if (needed > available_bytes) {
    refuse(needed, free_on_host);
  }
  // What is free there is known to a session only: asking would make the context outside of its
  // account.
  if (device && needed_on_device > device->memory_bytes) {
    refuse(needed_on_device,
           fmt::format("{} has {}", device->name, format_bytes(device->memory_bytes)));
  }
}

} // namespace diffbench::bench
