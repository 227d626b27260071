// Which backends a comparison runs, and whether their memory is there.
#pragma once

#include "diffbench/backend.hpp"
#include "options.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

struct Candidate {
  BackendInfo backend;
  Probe probe;
  double probe_seconds = 0; ///< the first probe of a device in a process starts its driver
};

/// The named backends in ladder order; all compiled ones, available or not, when none is named.
/// Throws InvalidInput, or Unavailable with the driver's words for a name that cannot run.
[[nodiscard]] std::vector<Candidate> select_backends(std::span<const std::string> names);

/// Throws InvalidInput, with both figures, when the candidates (with what they page-lock on the
/// host), the peers and the field between them need more memory than is free: their sessions live
/// side by side while they are timed.
void check_memory(const Options& options, std::span<const Candidate> candidates,
                  std::int64_t available_bytes);

} // namespace diffbench::bench
