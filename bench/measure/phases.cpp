// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

namespace diffbench::bench {

void settle(Phases& phases) {
  phases.unexplained = phases.wall;
  for (const NamedPhase& phase : named_phases) {
    phases.unexplained -= (phases.*phase.member).value_or(0);
  }
}

void itemize(Phases& phases, const std::optional<PhaseTimes>& account) {
  if (!account) {
    return;
  }
  auto once = [](double seconds) { return seconds > 0 ? std::optional(seconds) : std::nullopt; };
  phases.context = once(account->context);
  if (account->alloc > 0) { // else making the session took what the caller's clock saw
    phases.alloc = account->alloc;
  }
  phases.pin = once(account->pin);
  phases.h2d = account->h2d;
  phases.launch = once(account->launch);
  phases.compute = account->compute;
  phases.sync = account->sync;
  phases.d2h = account->d2h;
  const BusyTimes busy{
      .h2d = account->h2d_busy, .compute = account->compute_busy, .d2h = account->d2h_busy};
  if (busy.h2d + busy.compute + busy.d2h > 0) { // a host has no engines
    phases.busy = busy;
  }
  settle(phases);
}

void append_free(Phases& phases, double seconds) {
  phases.free = seconds;
  phases.wall += seconds;
  settle(phases);
}

bool charge_context(std::span<Row> rows, double driver_seconds) {
  // Peers run in processes of their own and have paid already.
  auto shares = [](const Row& row) { return row.on_device() && !row.is_peer && row.cold; };
  double made = 0;
  bool any = false;
  for (const Row& row : rows) {
    if (shares(row)) {
      made = std::max(made, row.cold->context.value_or(0));
      any = true;
    }
  }
  for (Row& row : rows) {
    if (shares(row)) {
      const double context = driver_seconds + made;
      const double missing = context - row.cold->context.value_or(0);
      row.cold->wall += missing;
      row.setup_seconds = row.setup_seconds.value_or(0) + missing;
      row.cold->context = context;
      settle(*row.cold);
    }
  }
  return any;
}

} // namespace diffbench::bench
