#include "selection.hpp"

#include "context.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace diffbench::bench {

std::vector<Candidate> select_backends(std::span<const std::string> names) {
  using Clock = std::chrono::steady_clock;
  std::vector<Candidate> candidates;
  for (const BackendInfo& backend : backend_ladder()) {
    if (names.empty() || std::find(names.begin(), names.end(), backend.name) != names.end()) {
      const auto start = Clock::now();
      Probe probe = backend.probe();
      const std::chrono::duration<double> took = Clock::now() - start;
      candidates.push_back(
          {.backend = backend, .probe = std::move(probe), .probe_seconds = took.count()});
    }
  }
  for (const std::string& name : names) {
    (void)require_backend(name);
  }
  return candidates;
}

void check_memory(const Options& options, std::span<const Candidate> candidates,
                  std::int64_t available_bytes) {
  const Problem& problem = options.problem;
  auto refuse = [&](std::int64_t needed) {
    throw InvalidInput(fmt::format(
        "a grid of {}x{} in {} needs {} of memory for these backends and {} are free: choose a "
        "smaller --grid or fewer backends (such as --backend simd)",
        problem.nx, problem.ny, to_string(problem.dtype), format_bytes(needed),
        format_bytes(available_bytes)));
  };
  // First of all the one field: beyond it the sums below could overflow.
  std::int64_t needed = problem.field_bytes();
  if (needed > available_bytes) {
    refuse(needed);
  }
  for (const Candidate& candidate : candidates) {
    if (candidate.probe.available && candidate.backend.memory_need != nullptr) {
      const std::int64_t session = candidate.backend.memory_need(problem, options.session).host;
      needed += session;
      // The row with round trips has a session of its own, and a host field.
      if (options.roundtrip_every > 0 && candidate.backend.device != DeviceKind::cpu) {
        needed += session + problem.field_bytes();
      }
    }
  }
  // A peer's expression holds the field, the result and at least one temporary.
  needed += 3 * problem.field_bytes() * static_cast<std::int64_t>(options.peers.size());
  if (needed > available_bytes) {
    refuse(needed);
  }
}

} // namespace diffbench::bench
