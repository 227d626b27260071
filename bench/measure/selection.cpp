#include "selection.hpp"

#include "context.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

/// A device that was chosen and cannot be used ends the run before any work.
void check_device(const Options& options, std::span<const Candidate> candidates) {
  std::string reason = "no CUDA backend is in this build";
  for (const Candidate& candidate : candidates) {
    if (candidate.backend.device != DeviceKind::cpu) {
      if (candidate.probe.available) {
        return;
      }
      reason = candidate.probe.reason;
    }
  }
  throw Unavailable(fmt::format("--device {}: {}", options.session.device, reason));
}

/// What the first probe of this backend on this device took: later ones find the driver started.
double seconds_of_first_probe(const BackendInfo& backend, int device, double seconds) {
  static std::map<std::pair<std::string, int>, double> first;
  return first.try_emplace({std::string(backend.name), device}, seconds).first->second;
}

} // namespace

std::vector<Candidate> select_backends(const Options& options) {
  const std::vector<std::string>& names = options.backends;
  const int device = options.session.device;
  std::vector<Candidate> candidates;
  for (const BackendInfo& backend : backend_ladder()) {
    if (names.empty() || std::find(names.begin(), names.end(), backend.name) != names.end()) {
      const Stopwatch watch;
      Probe probe = backend.probe(device);
      const double seconds = watch.seconds();
      candidates.push_back({.backend = backend,
                            .probe = std::move(probe),
                            .probe_seconds = seconds_of_first_probe(backend, device, seconds),
                            .session = options.session});
    }
  }
  for (const std::string& name : names) {
    (void)require_backend(name, device);
  }
  // With backends named, those decide whether a device is needed.
  if (options.device_chosen && names.empty()) {
    check_device(options, candidates);
  }
  return options.roundtrip_every > 0 ? with_round_trips(candidates, options.roundtrip_every)
                                     : candidates;
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

void check_memory(const Options& options, std::span<const Candidate> candidates,
                  std::int64_t available_bytes) {
  const Problem& problem = options.problem;
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
    if (candidate.probe.available && candidate.backend.memory_need != nullptr) {
      const MemoryNeed need = candidate.backend.memory_need(problem, candidate.session);
      needed += need.host;
      needed_on_device += need.device;
      device = candidate.probe.device ? candidate.probe.device : device;
      if (candidate.visits_host_every() > 0) { // a host field of its own
        needed += problem.field_bytes();
      }
    }
  }
  // A peer's expression holds the field, the result and at least one temporary.
  needed += 3 * problem.field_bytes() * static_cast<std::int64_t>(options.peers.size());
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
