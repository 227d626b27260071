#include "selection.hpp"

#include "context.hpp"
#include "diffbench/cluster/exchange_model.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// A device that was chosen and cannot be used ends the run before any work.
void check_device(const RowPlan& plan, std::span<const Candidate> candidates) {
  std::string reason = "no CUDA backend is in this build";
  for (const Candidate& candidate : candidates) {
    if (candidate.backend.device != DeviceKind::cpu) {
      if (candidate.probe.available) {
        return;
      }
      reason = candidate.probe.reason;
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
std::vector<Candidate> beside_ranks(std::span<const Candidate> candidates, const RankPlan& many) {
  std::vector<Candidate> all;
  for (const Candidate& candidate : candidates) {
    all.push_back(candidate);
    if (candidate.probe.available && candidate.roundtrip_every == 0) {
      all.push_back(on_ranks(candidate, *many.ranks, many.halo_depth, many.gpu_aware));
    }
  }
  return all;
}

/// Messages that were asked for and cannot be had end the run, too.
void check_messages(std::span<const Candidate> candidates, const RankPlan& many) {
  const bool on_device = std::ranges::any_of(candidates, [](const Candidate& candidate) {
    return candidate.backend.device != DeviceKind::cpu && candidate.probe.available;
  });
  if (many.gpu_aware && on_device) {
    cluster::require_device_messages(many.ranks->transport());
  }
}

} // namespace

std::optional<std::string> note_on_left_out(const RowPlan& plan) {
  std::vector<std::string_view> names;
  for (const BackendInfo& backend : all_backends()) {
    if (plan.backends.empty() && !asked_for(backend, plan)) {
      names.push_back(backend.name);
    }
  }
  if (names.empty()) {
    return std::nullopt;
  }
  return fmt::format("left out, since it is slow and for teaching: {} (--all)",
                     fmt::join(names, ", "));
}

std::vector<Candidate> select_backends(const RowPlan& plan, const RankPlan& many) {
  const std::vector<std::string>& names = plan.backends;
  const int device = plan.session.device;
  std::vector<Candidate> candidates;
  for (const BackendInfo& backend : all_backends()) {
    if (asked_for(backend, plan)) {
      const Stopwatch watch;
      Probe probe = backend.probe(device);
      const double seconds = watch.seconds();
      candidates.push_back({.backend = backend,
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
    check_device(plan, candidates);
  }
  if (plan.roundtrip_every > 0) {
    candidates = with_round_trips(candidates, plan.roundtrip_every);
  }
  if (many.ranks == nullptr || many.ranks->size() == 1) {
    return candidates;
  }
  check_messages(candidates, many);
  return beside_ranks(candidates, many);
}

Candidate on_ranks(const Candidate& candidate, cluster::Ranks& ranks, std::int64_t halo_depth,
                   bool gpu_aware) {
  Candidate all = candidate;
  all.ranks = &ranks;
  all.halo_depth = halo_depth;
  all.gpu_aware = gpu_aware;
  all.probe_seconds = 0;
  all.label = fmt::format("{}, {} ranks", candidate.backend.name, ranks.size());
  return all;
}

std::vector<Candidate> with_round_trips(std::span<const Candidate> candidates, std::int64_t every) {
  std::vector<Candidate> all;
  for (const Candidate& candidate : candidates) {
    all.push_back(candidate);
    if (candidate.backend.device != DeviceKind::cpu && candidate.probe.available) {
      Candidate naive = candidate;
      naive.probe_seconds = 0;
      naive.roundtrip_every = every;
      naive.label = fmt::format("{}, round trip every {}", candidate.backend.name, every);
      all.push_back(std::move(naive));
    }
  }
  return all;
}

MemoryNeed memory_of(const Candidate& candidate, const Problem& problem) {
  if (candidate.backend.memory_need == nullptr) {
    return {};
  }
  if (candidate.ranks == nullptr) {
    return candidate.backend.memory_need(problem, candidate.session);
  }
  // That of one rank, times those of this machine.
  const int ranks = candidate.ranks->size();
  const std::int64_t deepest = cluster::deepest_halo(problem, ranks);
  const std::int64_t depth =
      candidate.halo_depth > 0 ? candidate.halo_depth : cluster::depth_notches.back();
  Problem local = problem; // of the largest rank, with both halos
  local.ny = (problem.ny + ranks - 1) / ranks + (ranks > 1 ? 2 * std::min(deepest, depth) : 0);
  MemoryNeed need = candidate.backend.memory_need(local, candidate.session);
  if (candidate.backend.device != DeviceKind::cpu) {
    const std::int64_t messages =
        4 * std::min(deepest, depth) * problem.nx * problem.element_bytes();
    (candidate.gpu_aware ? need.device : need.host) += messages;
  }
  need.host *= candidate.ranks->ranks_on_machine();
  return need;
}

void check_memory(const Problem& problem, std::span<const Candidate> candidates, std::size_t peers,
                  std::int64_t available_bytes) {
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
  for (const Candidate& candidate : candidates) {
    if (candidate.probe.available) {
      const MemoryNeed need = memory_of(candidate, problem);
      needed += need.host;
      needed_on_device += need.device;
      device = candidate.probe.device ? candidate.probe.device : device;
      if (candidate.visits_host_every() > 0) { // a host field of its own
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
