// SPDX-License-Identifier: Apache-2.0
#include "assumed_phases.hpp"

#include "assumed_ways.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace diffbench::bench {

double copy_seconds(const AssumedEnd& end, double bytes, CopyTo to, bool locked) {
  const AssumedCard& card = end.card();
  if (to == CopyTo::card) {
    return end.copies(1, bytes, locked ? card.pinned_h2d : card.pageable_h2d);
  }
  return end.copies(1, bytes, locked ? card.pinned_d2h : card.pageable_d2h);
}

double pin_seconds(const AssumedEnd& end, double bytes) {
  return end.time(end.card().pin_call) + bytes * end.time(end.card().pin_byte);
}

AssumedPhases assumed_phases(const AssumedEnd& end, const AssumedRun& how, const RunShape& run) {
  const std::vector<AssumedWay> ways = assumed_ways(end.card(), end.work(), how.transfer);
  const auto way = std::ranges::find_if(
      ways, [&](const AssumedWay& one) { return one.fast.backend == how.backend; });
  if (way == ways.end()) {
    throw std::logic_error("no assumed way of that backend");
  }
  RunShape stretch = run;
  stretch.iterations = how.wait_each_step ? 1 : run.iterations;
  const double stretches =
      static_cast<double>(run.iterations) / static_cast<double>(stretch.iterations);
  const WarmParts parts =
      warm_parts(end, how.backend, predict(end.fast() ? way->fast : way->slow, stretch), stretch);
  const bool locked = how.transfer != Transfer::pageable;
  const double bytes = run.cells * end.work().copied_bytes;
  const double wait = end.time(end.card().synchronize);
  return {.context = end.time(end.card().context),
          .pin = locked ? pin_seconds(end, bytes) : 0,
          .h2d = copy_seconds(end, bytes, CopyTo::card, locked),
          .launch = stretches * (parts.launches - wait),
          .compute = stretches * (parts.memory + parts.instructions),
          .sync = stretches * wait,
          .d2h = copy_seconds(end, bytes, CopyTo::host, locked)};
}

} // namespace diffbench::bench
