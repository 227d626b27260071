// A row of the comparison while it is being measured, and how rows come into being: from backends
// in this process, and from peers in processes of their own.
#pragma once

#include "contender.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/npy.hpp"
#include "interrupt.hpp"
#include "observer.hpp"
#include "options.hpp"
#include "peer_contender.hpp"
#include "planning.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

template <typename T>
struct Entrant {
  Row row;
  std::unique_ptr<Contender<T>> contender; ///< gone when the row is not to be timed
  RowCost cost;
  std::int64_t period = 0;    ///< Candidate::visits_host_every()
  std::int64_t host_need = 0; ///< bytes that its session takes, as far as known
  bool asked_for = false;     ///< by name, or by the choice of its device
};

/// A run of a row, until it is destroyed; of emulated rows, whose times mean nothing, nobody hears.
[[nodiscard]] inline Observed observe_run(Observer& observer, const Row& row, const char* what,
                                          std::int64_t steps) {
  return Observed(row.emulated() ? nobody() : observer,
                  {.kind = Span::Kind::run, .name = what, .row = row.name, .steps = steps});
}

/// `initial` as in SessionContender.
template <typename T>
Entrant<T> backend_entrant(const Options& options, const Candidate& candidate,
                           std::span<const T> initial, Observer& observer) {
  const BackendInfo& backend = candidate.backend;
  Entrant<T> entrant;
  Row& row = entrant.row;
  row.name = candidate.row_name();
  row.device = to_string(backend.device);
  row.roundtrip_every = candidate.roundtrip_every;
  row.snapshot_every = candidate.snapshot_every;
  const auto& named = options.backends;
  entrant.asked_for = (row.on_device() && options.device_chosen) ||
                      std::find(named.begin(), named.end(), backend.name) != named.end();
  entrant.period = candidate.visits_host_every();
  if (!candidate.probe.available) {
    row.status = Status::skipped;
    row.reason = candidate.probe.reason;
    return entrant;
  }
  entrant.contender = std::make_unique<SessionContender<T>>(candidate, options.problem, initial,
                                                            row.emulated() ? nobody() : observer);
  if (backend.memory_need != nullptr) {
    const MemoryNeed need = backend.memory_need(options.problem, candidate.session);
    entrant.host_need = need.host;
    if (row.on_device()) {
      row.peak_device_bytes = need.device;
    }
  }
  return entrant;
}

/// Starts the peers. The initial field goes to them through a file in `exchange`, so that all rows
/// start from the same bits. Throws Unavailable, Error or Interrupted.
template <typename T>
std::vector<Entrant<T>> peer_entrants(const Options& options, const Field<T>& initial,
                                      const std::filesystem::path& exchange, Progress& progress,
                                      Observer& observer) {
  const std::filesystem::path file = exchange / "initial.npy";
  write_npy(file, initial);
  std::vector<Entrant<T>> entrants;
  try {
    for (const std::string& name : options.peers) {
      progress.stage("starting " + peer_row_name(name));
      Entrant<T> entrant;
      entrant.row.name = peer_row_name(name);
      entrant.row.is_peer = true;
      // NumPy's expression: the field, its successor, and four rolled copies.
      entrant.host_need = 6 * options.problem.field_bytes();
      entrant.contender = std::make_unique<PeerContender<T>>(
          Peer(name, options.problem, file, options.session, interrupted), exchange / "result.npy",
          observer);
      entrants.push_back(std::move(entrant));
    }
  } catch (const Error&) {
    if (interrupted()) {
      throw Interrupted();
    }
    throw;
  }
  return entrants;
}

} // namespace diffbench::bench
