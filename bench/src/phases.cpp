#include "phases.hpp"

namespace diffbench::bench {

namespace {

double context_seconds(const Row& row) {
  return row.cold && row.on_device() ? row.cold->context.value_or(0) : 0;
}

} // namespace

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
  phases.alloc = once(account->alloc);
  phases.pin = once(account->pin);
  phases.h2d = account->h2d;
  phases.launch = account->launch;
  phases.compute = account->compute;
  phases.sync = account->sync;
  phases.d2h = account->d2h;
  phases.busy = BusyTimes{
      .h2d = account->h2d_busy, .compute = account->compute_busy, .d2h = account->d2h_busy};
  settle(phases);
}

void append_free(Phases& phases, double seconds) {
  phases.free = seconds;
  phases.wall += seconds;
  settle(phases);
}

std::string share_context(std::span<Row> rows) {
  const Row* maker = nullptr;
  for (const Row& row : rows) {
    if (context_seconds(row) > (maker == nullptr ? 0 : context_seconds(*maker))) {
      maker = &row;
    }
  }
  if (maker == nullptr) {
    return "";
  }
  bool shared = false;
  const double context = context_seconds(*maker);
  for (Row& row : rows) {
    if (&row != maker && row.on_device() && row.cold) {
      row.cold->wall += context - row.cold->context.value_or(0);
      row.cold->context = context;
      settle(*row.cold);
      shared = true;
    }
  }
  return shared ? maker->name : "";
}

} // namespace diffbench::bench
